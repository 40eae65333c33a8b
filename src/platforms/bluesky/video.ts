import type { PlatformErrorClass } from '../../domain/failure.ts'
import type { MediaItem } from '../../domain/post.ts'
import { POSTING_RULES } from '../../domain/posting-rules.ts'
import { MINUTE, SECOND } from '../../domain/times.ts'
import type { CallOptions, Credentials, MediaSource, PreparationLog } from '../adapter.ts'
import { PlatformError } from '../errors.ts'
import { createLimit } from '../shared/limit.ts'
import { lostMedia, whenProcessed } from '../shared/processing.ts'
import { createVideoSizer } from '../shared/video-size.ts'
import { readServerDescription, readServiceToken, readUploadedBlob, readVideoJob, type BlobRef } from './answers.ts'
import { isRefusedWith, knownJobOf } from './errors.ts'
import type { ServiceAddresses } from './service-addresses.ts'
import { findUpload, saveUpload, type StoredUpload } from './uploads.ts'
import type { Xrpc } from './xrpc.ts'

export interface VideoDeps {
  xrpc: Xrpc
  /** Apart from `xrpc`, so that uploads never keep a visible call from its connection. */
  uploads: Xrpc
  services: ServiceAddresses
  media: MediaSource
  videoUrl: string
  /** As large a file as an account's server takes by itself. */
  blobLimitBytes: number
  /** How long one look waits for the service's work. */
  processingWaitMs: number
}

const UPLOAD_TIMEOUT_MS = 10 * MINUTE
/** At most an hour is given; a long upload has to end within it. */
const TOKEN_LIFE_MS = 30 * MINUTE
const UPLOADS_AT_ONCE = 6
const UPLOAD_BLOB = 'com.atproto.repo.uploadBlob'

/** Why the video service gave a video up (https://docs.bsky.app/docs/api/app-bsky-video-get-job-status). */
const FAILURES: Record<string, { class: PlatformErrorClass; message: string }> = {
  validation_failure: { class: 'validation', message: 'Bluesky does not accept the video' },
  encoding_failure: { class: 'validation', message: 'Bluesky cannot read the video' },
  pds_upload_failure: { class: 'transient', message: 'Bluesky could not store the video' },
  pds_upload_unsupported_blob_size: {
    class: 'validation',
    message: "The video is larger than the account's server takes",
  },
  generic_failure: { class: 'transient', message: 'Bluesky could not process the video' },
}

/** A video on its way: straight to the account's server as long as that takes it, otherwise by way of the video service. */
export function createVideo(deps: VideoDeps) {
  const { xrpc, uploads, services, media, videoUrl, blobLimitBytes, processingWaitMs } = deps
  // Whoever waits for a connection must not hold an open file meanwhile, which object storage would close.
  const inTransfer = createLimit(UPLOADS_AT_ONCE)

  /** What was reached is safe before the next step: the service may make another file of the same video. */
  async function prepare(
    item: MediaItem,
    index: number,
    account: Credentials,
    log: PreparationLog,
    options: CallOptions,
  ): Promise<void> {
    const known = findUpload(log, index)
    const upload = known ?? (await inTransfer(() => send(item, account, options)))
    if (!known) await saveUpload(log, index, upload)
    if (upload.blob) return
    const look = () => lookAt(upload.jobId!, index, log, options)
    const blob = await whenProcessed(look, { label: 'Bluesky', waitMs: processingWaitMs, ...options })
    await saveUpload(log, index, { ...upload, blob, uploadedAt: Date.now() })
  }

  async function send(item: MediaItem, account: Credentials, { signal }: CallOptions): Promise<StoredUpload> {
    const options = { signal, timeoutMs: UPLOAD_TIMEOUT_MS }
    const film = await open(item, options)
    const told = item.width && item.height ? { width: item.width, height: item.height } : {}
    const result = (sent: Pick<StoredUpload, 'blob' | 'jobId'>) => ({
      ...sent,
      ...(film.size() ?? told),
      uploadedAt: Date.now(),
    })
    if (film.sizeBytes > blobLimitBytes) return result({ jobId: await sendToService(account, film, options) })
    try {
      const upload = { ...options, token: account.accessToken }
      const { blob } = await uploads.procedure(services.of(account), UPLOAD_BLOB, film, readUploadedBlob, upload)
      return result({ blob })
    } catch (error) {
      // Servers set limits of their own.
      if (!isRefusedWith(error, 413)) throw error
      return result({ jobId: await sendToService(account, await open(item, options), options) })
    }
  }

  async function open(item: MediaItem, { signal }: CallOptions) {
    const { stream, sizeBytes, mimeType } = await media.open(item, { signal })
    if (sizeBytes > POSTING_RULES.bluesky.media.video.maxBytes) {
      await stream.cancel()
      throw new PlatformError('validation', 'The video is larger than Bluesky takes', { certain: true })
    }
    const { through, size } = createVideoSizer()
    return { bytes: through(stream), sizeBytes, mimeType, size, cancel: () => stream.cancel() }
  }

  async function sendToService(
    account: Credentials,
    film: Awaited<ReturnType<typeof open>>,
    options: CallOptions & { timeoutMs: number },
  ): Promise<string> {
    const token = await serviceToken(account, options).catch(async (error: unknown) => {
      await film.cancel()
      throw error
    })
    try {
      const upload = { ...options, token, params: { did: account.accountId, name: 'video.mp4' } }
      const job = await uploads.procedure(videoUrl, 'app.bsky.video.uploadVideo', film, readVideoJob, upload)
      return job.jobId
    } catch (error) {
      const known = knownJobOf(error)
      if (known !== null) return known
      throw ofService(error)
    }
  }

  /** With it the service puts what it made of the video onto the account's server. */
  async function serviceToken(account: Credentials, { signal }: CallOptions): Promise<string> {
    const server = services.of(account)
    const { did } = await xrpc.query(server, 'com.atproto.server.describeServer', {}, readServerDescription, { signal })
    const exp = String(Math.floor((Date.now() + TOKEN_LIFE_MS) / SECOND))
    const wanted = { aud: did, lxm: UPLOAD_BLOB, exp }
    const call = { signal, token: account.accessToken }
    return (await xrpc.query(server, 'com.atproto.server.getServiceAuth', wanted, readServiceToken, call)).token
  }

  /** A job that came to nothing is forgotten, so that the next attempt begins with the file again. */
  async function lookAt(
    jobId: string,
    index: number,
    log: PreparationLog,
    options: CallOptions,
  ): Promise<BlobRef | null> {
    try {
      const job = await xrpc.query(videoUrl, 'app.bsky.video.getJobStatus', { jobId }, readVideoJob, options)
      if (job.state !== 'JOB_STATE_FAILED') return job.blob ?? null
      await saveUpload(log, index, null)
      const failure = FAILURES[job.failureCode ?? ''] ?? FAILURES['generic_failure']!
      throw new PlatformError(failure.class, failure.message, { certain: true })
    } catch (error) {
      if (!isRefusedWith(error, 400) && !isRefusedWith(error, 404)) throw ofService(error)
      await saveUpload(log, index, null)
      throw lostMedia('Bluesky no longer has an uploaded file, so it is uploaded again', error)
    }
  }

  return { prepare }
}

/** What the service says of a token of its own is no news of the account's login. */
function ofService(error: unknown): unknown {
  if (!(error instanceof PlatformError) || error.class !== 'unauthorized') return error
  return new PlatformError('permission', 'Bluesky does not let this account upload videos', {
    certain: error.certain,
    cause: error,
  })
}
