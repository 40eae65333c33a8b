import type { SandboxResponse } from '../proxied-platform.ts'
import { errorPage } from '../shared/html.ts'
import { postsPage } from '../shared/post-pages.ts'
import type { PdsClient } from './pds-client.ts'

/** The addresses of the app's pages, in which people read the network. The server itself has none. */
export const APP_PATHS = '/profile/'

const POST_PATH = /^\/profile\/([^/]+)\/post\/([^/]+)$/

/** The page of a post at the address where the app has it. */
export async function postPage(pds: PdsClient, path: string): Promise<SandboxResponse> {
  const [, actor = '', rkey = ''] = POST_PATH.exec(path) ?? []
  const account = await pds.findAccount(actor)
  const record = account && (await pds.findRecord(account.did, 'app.bsky.feed.post', rkey))
  if (!account || !record) return errorPage(404, 'This post does not exist')
  const { text, createdAt } = record.value
  const media = listFiles(record.value).map(({ cid, ...file }) => ({ ...file, url: pds.blobUrl(account.did, cid) }))
  const shown = { id: record.uri, address: path, author: account.handle, text: String(text), link: null, media }
  return postsPage('Bluesky', [{ ...shown, createdAt: String(createdAt) }])
}

interface Blob {
  ref: { $link: string }
  mimeType: string
}

interface Embedded {
  images?: { alt: string; image: Blob }[]
  video?: Blob
  alt?: string
}

/** The files of a post's record. */
export function listFiles(record: Record<string, unknown>): { cid: string; mimeType: string; altText: string }[] {
  const { images = [], video, alt: altOfVideo = '' } = (record['embed'] ?? {}) as Embedded
  const files = video ? [{ image: video, alt: altOfVideo }] : images
  return files.map(({ image, alt }) => ({ cid: image.ref.$link, mimeType: image.mimeType, altText: alt }))
}
