import type { PlatformErrorClass } from '../../domain/posts/failure.ts'
import type { MediaItem } from '../../domain/posts/post.ts'
import { POSTING_RULES } from '../../domain/posts/posting-rules.ts'
import { MINUTE, SECOND } from '../../domain/shared/times.ts'
import type { CallOptions, Credentials, MediaSource, Checkpoints } from '../contract.ts'
import { PlatformError } from '../errors.ts'
import { createMediaLimiter } from '../shared/media-limiter.ts'
import { toLostMediaError, waitUntilProcessed } from '../shared/processing.ts'
import { readServerDescription, readServiceToken, readUploadedBlob, readVideoJob, type BlobRef } from './responses.ts'
import { isRefusedWith, getKnownJobId } from './errors.ts'
import type { ServiceAddresses } from './service-addresses.ts'
import { findUpload, saveUpload, type StoredUpload } from './uploads.ts'
import { asAccount, type Xrpc } from './xrpc.ts'

export interface VideoDeps {
  xrpc: Xrpc
  /** A separate client, so that uploads never take a connection from a visible call. */
  uploads: Xrpc
  services: ServiceAddresses
  media: MediaSource
  videoUrl: string
  /** The largest file that an account's own server accepts, bytes. */
  blobLimitBytes: number
  /** How long one preparation waits for the service, milliseconds. */
  processingWaitMs: number
}

const UPLOAD_TIMEOUT_MS = 10 * MINUTE
/** At most an hour is granted; a long upload must end within it. */
const TOKEN_LIFE_MS = 30 * MINUTE
const MAX_UPLOADS = 6
const MAX_UPLOADS_PER_USER = 2
const UPLOAD_BLOB = 'com.atproto.repo.uploadBlob'

/** Failures of the video service (https://docs.bsky.app/docs/api/app-bsky-video-get-job-status). */
const FAILURES: Record<string, { class: PlatformErrorClass; message: string }> = {
  validation_failure: { class: 'validation', message: 'Bluesky does not accept the video' },
  encoding_failure: { class: 'validation', message: 'Bluesky cannot read the video' },
  pds_upload_failure: { class: 'transient', message: 'Bluesky could not store the video' },
  pds_upload_unsupported_blob_size: {
    class: 'validation',
    message: "The video is larger than the account's server accepts",
  },
  generic_failure: { class: 'transient', message: 'Bluesky could not process the video' },
}

/** Uploads a video to the account's own server, or through the video service if it is too large for that. */
export function createVideo(deps: VideoDeps) {
  const { xrpc, uploads, services, media, videoUrl, blobLimitBytes, processingWaitMs } = deps
  // A call that waits for a connection must not hold an open file, which object storage would close.
  const limitUploads = createMediaLimiter({ concurrency: MAX_UPLOADS, perUser: MAX_UPLOADS_PER_USER })

  /** Stores each step before the next one: the service may create a different file from the same video. */
  async function prepare(
    { item, index }: { item: MediaItem; index: number },
    account: Credentials,
    checkpoints: Checkpoints,
    options: CallOptions,
  ): Promise<void> {
    const known = findUpload(checkpoints, index)
    const upload = known ?? (await limitUploads(item, () => send(item, account, options), options))
    if (!known) await saveUpload(checkpoints, index, upload)
    if (upload.blob) return
    const poll = () => pollJob(upload.jobId!, index, checkpoints, options)
    const blob = await waitUntilProcessed(poll, { label: 'Bluesky', waitMs: processingWaitMs, ...options })
    await saveUpload(checkpoints, index, { ...upload, blob, uploadedAt: Date.now() })
  }

  async function send(item: MediaItem, account: Credentials, { signal }: CallOptions): Promise<StoredUpload> {
    const options = { signal, timeoutMs: UPLOAD_TIMEOUT_MS }
    const videoFile = await open(item, options)
    if (videoFile.sizeBytes > blobLimitBytes) return sendToService(item, account, videoFile, options)
    try {
      const upload = { ...options, ...asAccount(account) }
      const { blob } = await uploads.procedure(
        { service: services.resolve(account), nsid: UPLOAD_BLOB, input: videoFile },
        readUploadedBlob,
        upload,
      )
      return { blob, ...toShape(item, videoFile), uploadedAt: Date.now() }
    } catch (error) {
      await videoFile.drop()
      // Servers have their own limits.
      if (!isRefusedWith(error, 413)) throw error
      return sendToService(item, account, await open(item, options), options)
    }
  }

  async function open(item: MediaItem, { signal }: CallOptions) {
    const { stream, ...videoFile } = await media.open(item, { signal })
    const { sizeBytes, mimeType } = videoFile
    /** For a call that failed before it read the file; a call that has begun to read closes it itself. */
    const drop = () => stream.cancel().catch(() => undefined)
    const { types, maxBytes } = POSTING_RULES.bluesky.media.video
    const isAccepted = types.includes(mimeType)
    if (isAccepted && sizeBytes <= maxBytes) return { ...videoFile, bytes: stream, drop }
    await drop()
    const problem = isAccepted ? 'The video is larger than Bluesky accepts' : `Bluesky does not accept ${mimeType}`
    throw new PlatformError('validation', problem, { certain: true })
  }

  async function sendToService(
    item: MediaItem,
    account: Credentials,
    videoFile: VideoFile,
    options: CallOptions & { timeoutMs: number },
  ): Promise<StoredUpload> {
    const toUpload = (jobId: string) => ({ jobId, ...toShape(item, videoFile), uploadedAt: Date.now() })
    try {
      const token = await requestServiceToken(account, options)
      const params = { did: account.accountId, name: 'video.mp4' }
      const upload = { service: videoUrl, nsid: 'app.bsky.video.uploadVideo', params, input: videoFile }
      const uploading = uploads.procedure(upload, readVideoJob, { ...options, token })
      return toUpload((await uploading.catch(rethrowServiceError)).jobId)
    } catch (error) {
      await videoFile.drop()
      const known = getKnownJobId(error)
      if (known === null) throw error
      return toUpload(known)
    }
  }

  /** Requests a token with which the service stores the processed video on the account's server. */
  async function requestServiceToken(account: Credentials, { signal }: CallOptions): Promise<string> {
    const service = services.resolve(account)
    const { did } = await xrpc.query(
      { service, nsid: 'com.atproto.server.describeServer', params: {} },
      readServerDescription,
      { signal },
    )
    const exp = String(Math.floor((Date.now() + TOKEN_LIFE_MS) / SECOND))
    const params = { aud: did, lxm: UPLOAD_BLOB, exp }
    const call = { signal, ...asAccount(account) }
    return (await xrpc.query({ service, nsid: 'com.atproto.server.getServiceAuth', params }, readServiceToken, call))
      .token
  }

  /** Polls a job. A failed job is forgotten, so that the next attempt uploads the file again. */
  async function pollJob(
    jobId: string,
    index: number,
    checkpoints: Checkpoints,
    options: CallOptions,
  ): Promise<BlobRef | null> {
    try {
      const request = xrpc.query(
        { service: videoUrl, nsid: 'app.bsky.video.getJobStatus', params: { jobId } },
        readVideoJob,
        options,
      )
      const job = await request.catch(rethrowServiceError)
      if (job.state !== 'JOB_STATE_FAILED') return job.blob ?? null
      await saveUpload(checkpoints, index, null)
      const failure = FAILURES[job.failureCode ?? ''] ?? FAILURES['generic_failure']!
      const reason = { code: job.failureCode, text: job.error }
      throw new PlatformError(failure.class, failure.message, { certain: true, reason })
    } catch (error) {
      if (!isRefusedWith(error, 400) && !isRefusedWith(error, 404)) throw error
      await saveUpload(checkpoints, index, null)
      throw toLostMediaError('Bluesky no longer has an uploaded file, so it is uploaded again', error)
    }
  }

  return { prepare }
}

interface VideoFile {
  bytes: AsyncIterable<Uint8Array>
  sizeBytes: number
  mimeType: string
  width?: number
  height?: number
  drop(): Promise<void>
}

/** Returns the size in the file, else the size that the owner stated. */
function toShape(item: MediaItem, videoFile: VideoFile): { width?: number; height?: number } {
  const { width, height } = videoFile.width ? videoFile : item
  return width && height ? { width, height } : {}
}

/** Rethrows `unauthorized` as `permission`: a refused token of the video service says nothing about the account's login. */
function rethrowServiceError(error: unknown): never {
  if (!(error instanceof PlatformError) || error.class !== 'unauthorized') throw error
  throw new PlatformError('permission', 'Bluesky does not let this account upload videos', {
    certain: error.certain,
    cause: error,
  })
}
