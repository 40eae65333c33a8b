import type { MediaItem } from '../../domain/posts/post.ts'
import { fitAltText, toMediaKind, type MediaKind, type PostingRules } from '../../domain/posts/posting-rules.ts'
import { HOUR, MINUTE } from '../../domain/shared/times.ts'
import type { CallOptions, Credentials, MediaSource, OutgoingPost, Checkpoints } from '../contract.ts'
import { PlatformError } from '../errors.ts'
import { loadImage } from '../shared/image-files.ts'
import { createMediaLimiter } from '../shared/media-limiter.ts'
import { createMultipartBody, createTextPart } from '../shared/multipart.ts'
import { toLostMediaError, waitUntilProcessed } from '../shared/processing.ts'
import { normalizeWhitespace } from '../shared/text-difference.ts'
import { readMediaAttachment, type MediaAttachment } from './responses.ts'
import type { Api } from './api.ts'
import { isRefusedAs, isRefusedWith } from '../shared/refusals.ts'
import type { InstanceLimits } from './instance-limits.ts'

interface MediaDeps {
  api: Api
  /** A separate client, so that uploads never take a connection from a visible call. */
  uploads: Api
  media: MediaSource
  /** How long one preparation waits for the server to process an image or video, milliseconds. */
  processingWaitMs: number
  limiters: MediaLimiters
}

/** Servers delete unused files after about a day; older ones are uploaded again. */
const LIFE_MS = 12 * HOUR
const IMAGES_IN_MEMORY = 2
const MAX_VIDEOS = 6
const MAX_VIDEOS_PER_USER = 2
const UPLOAD_TIMEOUT_MS = { image: MINUTE, video: 10 * MINUTE }

const toCheckpointName = (index: number) => `media.${index}`

/** The checkpoint of a file. An empty one means that it must be uploaded again. */
interface Uploaded {
  id: string
  /** True when the server has processed it. */
  isReady: boolean
  uploadedAt: number
}

interface UploadedFile {
  uploaded: Uploaded
  /** Its position in the post. */
  index: number
}

/** Creates the limits on files in progress, which all servers share. */
export function createMediaLimiters() {
  return {
    limitImages: createMediaLimiter({ concurrency: IMAGES_IN_MEMORY, perUser: 1 }),
    // A call that waits for a connection must not hold an open file, which object storage would close.
    limitVideos: createMediaLimiter({ concurrency: MAX_VIDEOS, perUser: MAX_VIDEOS_PER_USER }),
  }
}

export type MediaLimiters = ReturnType<typeof createMediaLimiters>

/** Uploads files before the post that shows them. */
export function createMedia({ api, uploads, media, processingWaitMs, limiters }: MediaDeps) {
  const { limitImages, limitVideos } = limiters

  /** Stores each file's id before the next step, so that nothing is uploaded twice needlessly. */
  async function prepare(
    { content }: OutgoingPost,
    account: Credentials,
    checkpoints: Checkpoints,
    { limits, ...options }: CallOptions & { limits: InstanceLimits },
  ): Promise<void> {
    for (const [index, item] of content.mediaItems.entries()) {
      const known = read(checkpoints, index)
      if (known && Date.now() - known.uploadedAt < LIFE_MS) continue
      const { status, body } = await upload(item, account, limits, options)
      await save(checkpoints, index, { id: body.id, isReady: status !== 202, uploadedAt: Date.now() })
    }
    for (const index of content.mediaItems.keys()) {
      const uploaded = read(checkpoints, index)!
      if (!uploaded.isReady) await waitUntilReady({ uploaded, index }, account, checkpoints, options)
    }
  }

  async function upload(item: MediaItem, account: Credentials, limits: InstanceLimits, { signal }: CallOptions) {
    const kind = toMediaKind(item.mimeType)
    const description = createTextPart('description', fitAltText(item, limits.rules))
    const send = (mimeType: string, sizeBytes: number, content: Uint8Array | AsyncIterable<Uint8Array>) => {
      const fileName = `${kind}.${mimeType.split('/')[1]}`
      const file = { field: 'file', fileName, mimeType, sizeBytes, open: async () => content }
      const body = createMultipartBody([description, file])
      const options = { token: account.accessToken, signal, timeoutMs: UPLOAD_TIMEOUT_MS[kind] }
      return uploads.post('/api/v2/media', body, readMediaAttachment, options).catch((error: unknown) => {
        throw toUploadError(error, kind)
      })
    }
    const sendVideo = async () => {
      const { stream, sizeBytes, mimeType } = await media.open(item, { signal })
      try {
        if (sizeBytes <= limits.rules.media.video.maxBytes) return await send(mimeType, sizeBytes, stream)
        throw new PlatformError('validation', 'The video is larger than Mastodon accepts', { certain: true })
      } catch (error) {
        // A call that has begun to read the file closes it itself.
        await stream.cancel().catch(() => undefined)
        throw error
      }
    }
    const sendImage = async () => {
      const { maxBytes } = limits.rules.media.image
      const imageLimits = { maxBytes, maxPixels: limits.imagePixels, types: limits.imageTypes }
      const image = await loadImage(media, item, imageLimits, { signal })
      return send(image.mimeType, image.bytes.length, image.bytes)
    }
    return kind === 'video' ? limitVideos(item, sendVideo, { signal }) : limitImages(item, sendImage, { signal })
  }

  async function waitUntilReady(
    file: UploadedFile,
    account: Credentials,
    checkpoints: Checkpoints,
    { signal }: CallOptions,
  ): Promise<void> {
    const poll = async () => ((await isProcessed(file, account, checkpoints, { signal })) ? true : null)
    await waitUntilProcessed(poll, { label: 'Mastodon', waitMs: processingWaitMs, signal })
    await save(checkpoints, file.index, { ...file.uploaded, isReady: true })
  }

  async function isProcessed(
    { uploaded, index }: UploadedFile,
    account: Credentials,
    checkpoints: Checkpoints,
    { signal }: CallOptions,
  ): Promise<boolean> {
    const path = `/api/v1/media/${encodeURIComponent(uploaded.id)}`
    try {
      const { status } = await api.get(path, {}, readMediaAttachment, { token: account.accessToken, signal })
      return status !== 206
    } catch (error) {
      const isGone = isRefusedAs(error, 'missing')
      if (!isGone && !isRefusedWith(error, 422)) throw error
      await checkpoints.save(toCheckpointName(index), '')
      if (isGone) throw toLostMediaError('Mastodon no longer has an uploaded file, so it is uploaded again', error)
      const message = 'Mastodon could not read an image or video'
      throw new PlatformError('media_fetch_failed', message, { certain: true, cause: error })
    }
  }

  /**
   * Returns the error for a status that was refused as invalid. The state of its files shows whether one of them was the reason: they can
   * be processed or uploaded again.
   */
  async function explainRefusal(
    refusal: PlatformError,
    { content }: OutgoingPost,
    account: Credentials,
    checkpoints: Checkpoints,
    options: CallOptions,
  ): Promise<PlatformError> {
    try {
      for (const index of content.mediaItems.keys()) {
        const uploaded = read(checkpoints, index)!
        if (await isProcessed({ uploaded, index }, account, checkpoints, options)) continue
        await save(checkpoints, index, { ...uploaded, isReady: false })
        const message = 'Mastodon is still processing an image or video'
        return new PlatformError('media_not_ready', message, { certain: true, cause: refusal })
      }
      return refusal
    } catch (error) {
      if (!(error instanceof PlatformError)) throw error
      // The status itself was refused, whatever its files could not be read for.
      return new PlatformError(error.class, error.message, { certain: true, cause: refusal })
    }
  }

  return { prepare, explainRefusal }
}

/** @throws PlatformError when something was not prepared */
export function listUploadedIds({ content }: OutgoingPost, checkpoints: Checkpoints): string[] {
  return content.mediaItems.map((_, index) => {
    const id = read(checkpoints, index)?.id
    if (id !== undefined) return id
    throw new PlatformError('media_not_ready', 'The post was not prepared for Mastodon', { certain: true })
  })
}

/** A file that a server does not accept. */
function toUploadError(error: unknown, kind: MediaKind): unknown {
  if (!(error instanceof PlatformError) || error.class !== 'validation') return error
  const what = isRefusedWith(error, 413) ? `refused the ${kind} as too large` : `does not accept the ${kind}`
  return new PlatformError('validation', `Mastodon ${what}`, { certain: true, cause: error })
}

/**
 * Compares the files that a status shows with those of a post. `same`: by their ids, even if some are missing (`describeMissingFiles`).
 * `alike`: by number, kinds and descriptions.
 * @param hasOwnIds false for servers that may show other ids than an upload returned
 */
export function compareFiles(
  shown: readonly MediaAttachment[],
  { content: { mediaItems } }: OutgoingPost,
  checkpoints: Pick<Checkpoints, 'get'>,
  { rules, hasOwnIds }: { rules: PostingRules; hasOwnIds: boolean },
): 'same' | 'alike' | 'other' {
  const sent = mediaItems.flatMap((_, index) => read(checkpoints, index)?.id ?? [])
  if (shown.length === 0 && mediaItems.length === 0) return 'same'
  if (shown.length > 0 && shown.length <= mediaItems.length && shown.every(({ id }) => sent.includes(id))) return 'same'
  if (shown.length !== mediaItems.length || (hasOwnIds && sent.length === mediaItems.length)) return 'other'
  return mediaItems.every((item, index) => isShownAs(item, shown[index]!, rules)) ? 'alike' : 'other'
}

function isShownAs(item: MediaItem, { type, description }: MediaAttachment, rules: PostingRules): boolean {
  const kinds = SHOWN_KINDS[toMediaKind(item.mimeType)]
  const hasKind = typeof type !== 'string' || kinds.includes(type)
  const hasText = description === undefined || toComparable(description) === toComparable(fitAltText(item, rules))
  return hasKind && hasText
}

/** The types of attachments; a video without sound is a `gifv`. */
const SHOWN_KINDS: Record<MediaKind, string[]> = {
  image: ['image', 'unknown'],
  video: ['video', 'gifv', 'unknown'],
}

const toComparable = (text: unknown): string => normalizeWhitespace(typeof text === 'string' ? text : '')

/** Returns a sentence for users about the files that a status was published without; undefined when it has all. */
export function describeMissingFiles(shown: readonly unknown[], { content }: OutgoingPost): string | undefined {
  const [sent, missing] = [content.mediaItems.length, content.mediaItems.length - shown.length]
  if (missing <= 0) return undefined
  return `Mastodon published the post without ${missing === sent ? '' : `${missing} of `}its images and videos.`
}

function read(checkpoints: Pick<Checkpoints, 'get'>, index: number): Uploaded | null {
  const stored = checkpoints.get(toCheckpointName(index))
  return stored ? (JSON.parse(stored) as Uploaded) : null
}

async function save(checkpoints: Checkpoints, index: number, uploaded: Uploaded): Promise<void> {
  await checkpoints.save(toCheckpointName(index), JSON.stringify(uploaded))
}
