import type { MediaItem } from '../../domain/posts/post.ts'
import { fitAltText, toMediaKind } from '../../domain/posts/posting-rules.ts'
import { HOUR, MINUTE } from '../../domain/shared/times.ts'
import type { CallOptions, Credentials, MediaSource, OutgoingPost, PreparationLog } from '../contract.ts'
import { PlatformError } from '../errors.ts'
import { loadImage, warmUpImages } from '../shared/image-files.ts'
import { createMediaTurns } from '../shared/media-turns.ts'
import { multipart, textPart } from '../shared/multipart.ts'
import { lostMedia, whenProcessed } from '../shared/processing.ts'
import { readMediaAttachment } from './responses.ts'
import type { Api } from './api.ts'
import { isRefusedAs } from '../shared/refusals.ts'
import type { InstanceLimits } from './instance-limits.ts'

interface MediaDeps {
  api: Api
  /** Apart from `api`, so that uploads never keep a visible call from its connection. */
  uploads: Api
  media: MediaSource
  /** How long one look waits for the server's work on an image or video. */
  processingWaitMs: number
}

/** Servers drop files that no post took after a day or so; older ones are uploaded again. */
const LIFE_MS = 12 * HOUR
const IMAGES_IN_MEMORY = 2
const VIDEOS_AT_ONCE = 6
const VIDEOS_OF_A_USER = 2
const UPLOAD_TIMEOUT_MS = { image: MINUTE, video: 10 * MINUTE }

const handleOf = (index: number) => `media.${index}`

/** What `prepare` remembers of a file; an empty handle means that it has to be uploaded again. */
interface Uploaded {
  id: string
  /** Whether the server has done its work on it. */
  isReady: boolean
  uploadedAt: number
}

/** Files on their way to the server, long before the post that shows them. */
export function createMedia({ api, uploads, media, processingWaitMs }: MediaDeps) {
  const inMemory = createMediaTurns({ atOnce: IMAGES_IN_MEMORY, perUser: 1 })
  // Whoever waits for a connection must not hold an open file meanwhile, which object storage would close.
  const inTransfer = createMediaTurns({ atOnce: VIDEOS_AT_ONCE, perUser: VIDEOS_OF_A_USER })

  /** Each file's id is safe before the next step, so that nothing is uploaded twice without need. */
  async function prepare(
    { content }: OutgoingPost,
    account: Credentials,
    log: PreparationLog,
    limits: InstanceLimits,
    options: CallOptions,
  ): Promise<void> {
    for (const [index, item] of content.mediaItems.entries()) {
      const known = read(log, index)
      if (known && Date.now() - known.uploadedAt < LIFE_MS) continue
      const { status, body } = await upload(item, account, limits, options)
      await save(log, index, { id: body.id, isReady: status !== 202, uploadedAt: Date.now() })
    }
    for (const index of content.mediaItems.keys()) {
      const uploaded = read(log, index)!
      if (!uploaded.isReady) await awaitProcessing(uploaded, index, account, log, options)
    }
  }

  async function upload(item: MediaItem, account: Credentials, limits: InstanceLimits, { signal }: CallOptions) {
    const kind = toMediaKind(item.mimeType)
    const description = textPart('description', fitAltText(item, limits.rules))
    const send = (mimeType: string, sizeBytes: number, content: Uint8Array | AsyncIterable<Uint8Array>) => {
      const fileName = `${kind}.${mimeType.split('/')[1]}`
      const file = { field: 'file', fileName, mimeType, sizeBytes, open: async () => content }
      const body = multipart([description, file])
      const options = { token: account.accessToken, signal, timeoutMs: UPLOAD_TIMEOUT_MS[kind] }
      return uploads.post('/api/v2/media', body, readMediaAttachment, options)
    }
    const sendVideo = async () => {
      const { stream, sizeBytes, mimeType } = await media.open(item, { signal })
      if (sizeBytes <= limits.rules.media.video.maxBytes) return send(mimeType, sizeBytes, stream)
      await stream.cancel()
      throw new PlatformError('validation', 'The video is larger than Mastodon takes', { certain: true })
    }
    const sendImage = async () => {
      const { maxBytes } = limits.rules.media.image
      const taken = { maxBytes, maxPixels: limits.imagePixels, types: limits.imageTypes }
      const image = await loadImage(media, item, taken, { signal })
      return send(image.mimeType, image.bytes.length, image.bytes)
    }
    return kind === 'video' ? inTransfer(item, sendVideo, { signal }) : inMemory(item, sendImage, { signal })
  }

  async function awaitProcessing(
    uploaded: Uploaded,
    index: number,
    account: Credentials,
    log: PreparationLog,
    { signal }: CallOptions,
  ): Promise<void> {
    const look = async () => ((await isProcessed(uploaded.id, index, account, log, { signal })) ? true : null)
    await whenProcessed(look, { label: 'Mastodon', waitMs: processingWaitMs, signal })
    await save(log, index, { ...uploaded, isReady: true })
  }

  async function isProcessed(
    id: string,
    index: number,
    account: Credentials,
    log: PreparationLog,
    { signal }: CallOptions,
  ): Promise<boolean> {
    const path = `/api/v1/media/${encodeURIComponent(id)}`
    try {
      const { status } = await api.get(path, {}, readMediaAttachment, { token: account.accessToken, signal })
      return status !== 206
    } catch (error) {
      const isGone = isRefusedAs(error, 'missing')
      if (isGone || isRefusedAs(error, 'media-broken')) await log.save(handleOf(index), '')
      if (!isGone) throw error
      throw lostMedia('Mastodon no longer has an uploaded file, so it is uploaded again', error)
    }
  }

  return { prepare, warmUp: warmUpImages }
}

export function uploadedId(log: PreparationLog, index: number): string | null {
  return read(log, index)?.id ?? null
}

/** @throws PlatformError when something was not prepared */
export function uploadedIds({ content }: OutgoingPost, log: PreparationLog): string[] {
  return content.mediaItems.map((_, index) => {
    const id = uploadedId(log, index)
    if (id !== null) return id
    throw new PlatformError('media_not_ready', 'The post was not prepared for Mastodon', { certain: true })
  })
}

export async function forgetUploads({ content }: OutgoingPost, log: PreparationLog): Promise<void> {
  for (const index of content.mediaItems.keys()) await log.save(handleOf(index), '')
}

function read(log: PreparationLog, index: number): Uploaded | null {
  const stored = log.handle(handleOf(index))
  return stored ? (JSON.parse(stored) as Uploaded) : null
}

async function save(log: PreparationLog, index: number, uploaded: Uploaded): Promise<void> {
  await log.save(handleOf(index), JSON.stringify(uploaded))
}
