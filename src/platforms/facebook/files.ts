import type { MediaItem } from '../../domain/posts/post.ts'
import { fitAltText, toMediaKind, POSTING_RULES } from '../../domain/posts/posting-rules.ts'
import { HOUR, MINUTE } from '../../domain/shared/times.ts'
import type { CallOptions, Credentials, OutgoingPost, Checkpoints } from '../contract.ts'
import { PlatformError } from '../errors.ts'
import { readId } from '../shared/graph/responses.ts'
import type { GraphApi } from '../shared/graph/api.ts'
import type { PulledMedia } from '../shared/pulled-media.ts'

interface FileDeps {
  /** A separate client, so that uploads never take a connection from a visible call. */
  api: GraphApi
  media: Pick<PulledMedia, 'resolveUrl'>
}

/** Facebook deletes unused photos after about a day; older ones are uploaded again, and older drafts created again. */
export const LIFE_MS = 12 * HOUR
/** Facebook responds after it has fetched the photo. */
const UPLOAD_TIMEOUT_MS = MINUTE

const VIDEO = 'video'
const toPhotoCheckpoint = (index: number) => `photo.${index}`

/** The checkpoint of a photo. An empty one means that it must be uploaded again. */
interface Uploaded {
  id: string
  uploadedAt: number
}

/** Uploads unpublished photos and resolves the URL of a video. */
export function createFiles({ api, media }: FileDeps) {
  /** Stores each photo's id before the next upload, so that nothing is uploaded twice needlessly. */
  async function prepare(
    { content }: OutgoingPost,
    account: Credentials,
    checkpoints: Checkpoints,
    options: CallOptions,
  ): Promise<void> {
    for (const [index, item] of content.mediaItems.entries()) {
      if (toMediaKind(item.mimeType) === 'video') {
        // Checked every time: this is the last moment to detect a missing file.
        const address = await media.resolveUrl(item, options)
        if (address !== checkpoints.get(VIDEO)) await checkpoints.save(VIDEO, address)
        continue
      }
      const known = read(checkpoints, index)
      if (known && Date.now() - known.uploadedAt < LIFE_MS) continue
      const id = await upload(item, account, options)
      await checkpoints.save(
        toPhotoCheckpoint(index),
        JSON.stringify({ id, uploadedAt: Date.now() } satisfies Uploaded),
      )
    }
  }

  async function upload(item: MediaItem, { accountId, accessToken }: Credentials, { signal }: CallOptions) {
    const url = await media.resolveUrl(item, { signal })
    const altText = fitAltText(item, POSTING_RULES.facebook)
    const photo = { url, published: 'false', alt_text_custom: altText === '' ? undefined : altText }
    const call = { token: accessToken, signal, timeoutMs: UPLOAD_TIMEOUT_MS }
    return (await api.post(`/${encodeURIComponent(accountId)}/photos`, photo, readId, call)).id
  }

  return { prepare }
}

/** The ids of the photos in order; `null` for those that must be uploaded again. */
export function listUploadedPhotos({ content }: OutgoingPost, checkpoints: Checkpoints): (string | null)[] {
  return content.mediaItems.map((_, index) => read(checkpoints, index)?.id ?? null)
}

/** The URL from which Facebook fetches the video. */
export function getVideoUrl(checkpoints: Checkpoints): string {
  return checkpoints.get(VIDEO) ?? throwNotPrepared()
}

/** @throws PlatformError when something was not prepared */
export function toAttachedMedia(post: OutgoingPost, checkpoints: Checkpoints): { media_fbid: string }[] {
  return listUploadedPhotos(post, checkpoints).map((id) => ({ media_fbid: id ?? throwNotPrepared() }))
}

export async function forgetPhotos({ content }: OutgoingPost, checkpoints: Checkpoints): Promise<void> {
  const names = [...content.mediaItems.keys()].map(toPhotoCheckpoint)
  for (const name of names) if (checkpoints.get(name)) await checkpoints.save(name, '')
}

export function isVideo({ content }: OutgoingPost): boolean {
  return content.mediaItems.some(({ mimeType }) => toMediaKind(mimeType) === 'video')
}

export function throwNotPrepared(): never {
  throw new PlatformError('media_not_ready', 'The post was not prepared for Facebook', { certain: true })
}

function read(checkpoints: Checkpoints, index: number): Uploaded | null {
  const stored = checkpoints.get(toPhotoCheckpoint(index))
  return stored ? (JSON.parse(stored) as Uploaded) : null
}
