import { UploadError } from '@postonce/sdk'
import { client } from '../../session/session.ts'
import type { DraftMedia } from './draft.ts'

/** The key of the mutations that upload files. */
export const UPLOADS = ['media', 'upload']

interface UploadOptions {
  signal: AbortSignal
  onProgress: (percent: number) => void
}

/** Uploads a file. Only XMLHttpRequest reports in browsers how much was sent. @throws ApiError, ConnectionError, UploadError */
export async function uploadFile(file: File, { signal, onProgress }: UploadOptions): Promise<DraftMedia> {
  const target = await client.request('POST', '/api/posts/media/upload', {
    body: { contentType: file.type, sizeBytes: file.size },
    signal,
  })
  await new Promise<void>((resolve, reject) => {
    const request = new XMLHttpRequest()
    request.open('PUT', target.uploadUrl)
    request.setRequestHeader('content-type', target.contentType)
    request.upload.onprogress = ({ loaded, total }) => onProgress((loaded / total) * 100)
    request.onload = () =>
      request.status >= 200 && request.status < 300 ? resolve() : reject(new UploadError(request.status))
    request.onerror = () => reject(new Error('The storage did not respond. Check your connection and upload it again.'))
    request.onabort = () => reject(signal.reason as Error)
    signal.addEventListener('abort', () => request.abort())
    request.send(file)
  })
  return {
    storageKey: target.storageKey,
    mimeType: target.contentType,
    sizeBytes: file.size,
    originalFilename: file.name,
    storageUrl: target.storageUrl,
  }
}
