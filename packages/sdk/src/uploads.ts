import { UploadError } from './errors.ts'
import type { components } from './generated/schema.ts'
import { chooseRetryWait } from './retries.ts'
import { sleep } from './sleep.ts'

/** A media item of an uploaded file, for a post. */
export type MediaItem = components['schemas']['MediaItemInput'] & { storageKey: string }

export interface UploadProgress {
  sentBytes: number
  totalBytes: number
}

export interface UploadOptions {
  /** The default is the type of the blob. */
  contentType?: string | undefined
  /** The default is the name of a `File`. */
  filename?: string | undefined
  /** Description for people who cannot see the media. */
  altText?: string | undefined
  /** Called while the file is sent, and from 0 again when a try failed. Browsers report only the end. */
  onProgress?: ((progress: UploadProgress) => void) | undefined
  signal?: AbortSignal | undefined
}

/** A blob that reports what was read from it. The runtime takes the content from `stream`, and the Content-Length from `size`. */
class ObservedBlob extends Blob {
  readonly #report: (sentBytes: number) => void

  constructor(blob: Blob, report: (sentBytes: number) => void) {
    super([blob], { type: blob.type })
    this.#report = report
  }

  override stream() {
    let sentBytes = 0
    const count = new TransformStream<Uint8Array<ArrayBuffer>, Uint8Array<ArrayBuffer>>({
      transform: (chunk, controller) => {
        controller.enqueue(chunk)
        sentBytes += chunk.byteLength
        this.#report(sentBytes)
      },
    })
    return super.stream().pipeThrough(count)
  }
}

/**
 * Sends a file to a pre-signed URL. A repeated upload replaces the first, so lost connections are retried.
 * @throws UploadError when the storage refuses the file
 */
export async function putFile(
  target: { uploadUrl: string; contentType: string },
  file: Blob,
  { onProgress, signal }: UploadOptions,
  { send, maxRetries }: { send: typeof fetch; maxRetries: number },
): Promise<void> {
  const report = (sentBytes: number) => onProgress?.({ sentBytes, totalBytes: file.size })
  for (let failures = 1; ; failures++) {
    report(0)
    const outcome = await send(target.uploadUrl, {
      method: 'PUT',
      headers: { 'content-type': target.contentType },
      body: onProgress ? new ObservedBlob(file, report) : file,
      ...(signal ? { signal } : {}),
    }).catch((error: unknown) => error)
    if (outcome instanceof Response && outcome.ok) break
    signal?.throwIfAborted()
    const status = outcome instanceof Response ? outcome.status : null
    const wait =
      failures > maxRetries ? null : chooseRetryWait({ status, retryAfterSeconds: null }, true, failures, Math.random())
    if (wait === null) throw status === null ? outcome : new UploadError(status)
    await sleep(wait, signal)
  }
  report(file.size)
}
