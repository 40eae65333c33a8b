import { createServer, type Server } from 'node:http'
import { join } from 'node:path'
import { readJson, writeJson } from '../json-file.ts'
import type { PdsClient, StoredRecord } from './pds-client.ts'

/** The DID under which the Bluesky server knows the AppView. Nothing resolves it: the server is told the address as well. */
export const APP_VIEW_DID = 'did:web:appview.test'

/** Counts nobody in the sandbox makes by hand; set through the fault proxy's control interface. */
export interface AppViewCounts {
  postCounts(uri: string): Record<string, number>
  accountCounts(did: string): Record<string, number>
  setPostCounts(uri: string, counts: Record<string, number>): void
  setAccountCounts(did: string, counts: Record<string, number>): void
}

/** Our words for counts, and the platform's own, lead to the same field. */
const POST_FIELDS: Record<string, string> = {
  likes: 'likeCount',
  shares: 'repostCount',
  reposts: 'repostCount',
  comments: 'replyCount',
  replies: 'replyCount',
  quotes: 'quoteCount',
  saved: 'bookmarkCount',
  bookmarks: 'bookmarkCount',
}
const ACCOUNT_FIELDS: Record<string, string> = {
  followers: 'followersCount',
  follows: 'followsCount',
}

export function openAppViewCounts(dir: string): AppViewCounts {
  const path = join(dir, 'counts.json')
  const counts = readJson<Record<string, Record<string, number>>>(path, {})
  const set = (id: string, given: Record<string, number>, fields: Record<string, string>) => {
    const renamed = Object.entries(given).map(([name, value]) => [fields[name] ?? name, value])
    counts[id] = { ...counts[id], ...Object.fromEntries(renamed) }
    writeJson(path, counts)
  }
  return {
    postCounts: (uri) => ({
      likeCount: 0,
      repostCount: 0,
      replyCount: 0,
      quoteCount: 0,
      bookmarkCount: 0,
      ...counts[uri],
    }),
    accountCounts: (did) => ({
      followersCount: 0,
      followsCount: 0,
      ...counts[did],
    }),
    setPostCounts: (uri, given) => set(uri, given, POST_FIELDS),
    setAccountCounts: (did, given) => set(did, given, ACCOUNT_FIELDS),
  }
}

/**
 * A small AppView: what the Bluesky server does not answer itself, read from that server's own records. The real one follows
 * the network's stream and lags behind; this one asks at every call.
 */
export function createAppView(pds: () => PdsClient, counts: AppViewCounts): Server {
  const methods: Record<string, (query: URLSearchParams) => Promise<unknown>> = {
    'app.bsky.actor.getProfile': (query) => profile(pds(), counts, query.get('actor') ?? ''),
    'app.bsky.actor.getProfiles': async (query) => ({
      profiles: await keepFound(query.getAll('actors').map((actor) => profile(pds(), counts, actor))),
    }),
    'app.bsky.feed.getPosts': async (query) => ({
      posts: await keepFound(query.getAll('uris').map((uri) => postView(pds(), counts, uri))),
    }),
  }
  return createServer((request, response) => {
    const url = new URL(request.url ?? '/', 'http://app-view')
    const method = methods[url.pathname.replace('/xrpc/', '')]
    const work = method
      ? method(url.searchParams)
      : Promise.reject(new XrpcFailure(501, 'MethodNotImplemented', 'Method Not Implemented'))
    work.then(
      (body) => send(200, body),
      (error: unknown) => {
        const { status, name, message } =
          error instanceof XrpcFailure ? error : new XrpcFailure(500, 'InternalServerError', String(error))
        send(status, { error: name, message })
      },
    )
    const send = (status: number, body: unknown) => {
      response.writeHead(status, { 'content-type': 'application/json' })
      response.end(JSON.stringify(body))
    }
  })
}

class XrpcFailure extends Error {
  readonly status: number
  constructor(status: number, name: string, message: string) {
    super(message)
    this.status = status
    this.name = name
  }
}

/** Like the real one, lists leave out what does not exist. */
async function keepFound<T>(work: Promise<T>[]): Promise<T[]> {
  const settled = await Promise.allSettled(work)
  const broken = settled.find((one) => one.status === 'rejected' && !(one.reason instanceof XrpcFailure))
  if (broken?.status === 'rejected') throw broken.reason
  return settled.flatMap((one) => (one.status === 'fulfilled' ? [one.value] : []))
}

async function profile(pds: PdsClient, counts: AppViewCounts, actor: string) {
  const account = await pds.findAccount(actor)
  if (!account) throw new XrpcFailure(400, 'InvalidRequest', 'Profile not found')
  const record = await pds.findRecord(account.did, 'app.bsky.actor.profile', 'self')
  const posts = await pds.listRecords(account.did, 'app.bsky.feed.post')
  const picture = blobCid(record?.value['avatar'])
  return {
    did: account.did,
    handle: account.handle,
    ...pick(record, ['displayName', 'description']),
    ...(picture ? { avatar: pds.blobUrl(account.did, picture) } : {}),
    postsCount: posts.length,
    ...counts.accountCounts(account.did),
  }
}

async function postView(pds: PdsClient, counts: AppViewCounts, uri: string) {
  const [, did = '', collection = '', rkey = ''] = /^at:\/\/([^/]+)\/([^/]+)\/([^/]+)$/.exec(uri) ?? []
  const record = collection === 'app.bsky.feed.post' ? await pds.findRecord(did, collection, rkey) : undefined
  const author = record && (await pds.findAccount(did))
  if (!record || !author) throw new XrpcFailure(400, 'InvalidRequest', 'Post not found')
  return {
    uri: record.uri,
    cid: record.cid,
    author: { did: author.did, handle: author.handle },
    record: record.value,
    indexedAt: record.value['createdAt'],
    ...counts.postCounts(uri),
  }
}

function pick(record: StoredRecord | undefined, names: string[]): Record<string, unknown> {
  return Object.fromEntries(names.flatMap((name) => (record?.value[name] ? [[name, record.value[name]]] : [])))
}

function blobCid(blob: unknown): string | undefined {
  return (blob as { ref?: { $link?: string } } | undefined)?.ref?.$link
}
