import type { MediaItem } from '../../domain/posts/post.ts'
import { fitAltText, toMediaKind, POSTING_RULES } from '../../domain/posts/posting-rules.ts'
import { HOUR, MINUTE } from '../../domain/shared/times.ts'
import type { CallOptions, Credentials, OutgoingPost, PreparationLog } from '../contract.ts'
import { PlatformError } from '../errors.ts'
import { readMade } from '../shared/graph/responses.ts'
import type { GraphApi } from '../shared/graph/api.ts'
import type { PulledMedia } from '../shared/pulled-media.ts'

interface FileDeps {
  /** Apart from the one for visible calls, so that uploads never keep one of those from its connection. */
  api: GraphApi
  media: PulledMedia
}

/** Facebook drops photos that no post took after a day or so; older ones are uploaded again. */
const LIFE_MS = 12 * HOUR
/** Facebook answers when it has fetched the photo. */
const UPLOAD_TIMEOUT_MS = MINUTE

const VIDEO = 'video'
const photoHandle = (index: number) => `photo.${index}`

/** What `prepare` remembers of a photo; an empty handle means that it has to be uploaded again. */
interface Uploaded {
  id: string
  uploadedAt: number
}

/** Photos as nobody sees them yet, and where a video can be fetched from. */
export function createFiles({ api, media }: FileDeps) {
  /** Each photo's id is safe before the next one is uploaded, so that nothing is uploaded twice without need. */
  async function prepare(
    { content }: OutgoingPost,
    account: Credentials,
    log: PreparationLog,
    options: CallOptions,
  ): Promise<void> {
    for (const [index, item] of content.mediaItems.entries()) {
      if (toMediaKind(item.mimeType) === 'video') {
        // Looked at each time: it is the last moment to tell that the file is not there.
        const address = await media.addressOf(item, options)
        if (address !== log.handle(VIDEO)) await log.save(VIDEO, address)
        continue
      }
      const known = read(log, index)
      if (known && Date.now() - known.uploadedAt < LIFE_MS) continue
      const id = await upload(item, account, options)
      await log.save(photoHandle(index), JSON.stringify({ id, uploadedAt: Date.now() } satisfies Uploaded))
    }
  }

  async function upload(item: MediaItem, { accountId, accessToken }: Credentials, { signal }: CallOptions) {
    const url = await media.addressOf(item, { signal })
    const altText = fitAltText(item, POSTING_RULES.facebook)
    const photo = { url, published: 'false', alt_text_custom: altText === '' ? undefined : altText }
    const call = { token: accessToken, signal, timeoutMs: UPLOAD_TIMEOUT_MS }
    return (await api.post(`/${encodeURIComponent(accountId)}/photos`, photo, readMade, call)).id
  }

  return { prepare, warmUp: media.warmUp }
}

/** The ids of the photos, in their order; null for those that are to be uploaded again. */
export function uploadedPhotos({ content }: OutgoingPost, log: PreparationLog): (string | null)[] {
  return content.mediaItems.map((_, index) => read(log, index)?.id ?? null)
}

/** Where Facebook fetches the video. */
export function videoAddress(log: PreparationLog): string {
  return log.handle(VIDEO) ?? notPrepared()
}

/** @throws PlatformError when something was not prepared */
export function attachedPhotos(post: OutgoingPost, log: PreparationLog): { media_fbid: string }[] {
  return uploadedPhotos(post, log).map((id) => ({ media_fbid: id ?? notPrepared() }))
}

export async function forgetPhotos({ content }: OutgoingPost, log: PreparationLog): Promise<void> {
  for (const index of content.mediaItems.keys()) await log.save(photoHandle(index), '')
}

export function isVideo({ content }: OutgoingPost): boolean {
  return content.mediaItems.some(({ mimeType }) => toMediaKind(mimeType) === 'video')
}

function notPrepared(): never {
  throw new PlatformError('media_not_ready', 'The post was not prepared for Facebook', { certain: true })
}

function read(log: PreparationLog, index: number): Uploaded | null {
  const stored = log.handle(photoHandle(index))
  return stored ? (JSON.parse(stored) as Uploaded) : null
}
