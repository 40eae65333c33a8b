import { MINUTE } from '../../domain/shared/times.ts'
import type { OutgoingPost, PreparationLog } from '../contract.ts'
import { PlatformError } from '../errors.ts'
import type { BlobRef } from './responses.ts'
import type { UploadedFile } from './record.ts'

/** Servers drop blobs that no record names after a while; older ones are uploaded again. */
const BLOB_LIFE_MS = 30 * MINUTE

/** What `prepare` remembers of an image or video, by its place in the post; an empty handle means that it has to be uploaded again. */
export interface StoredUpload {
  /** Absent while the video service works on it. */
  blob?: BlobRef
  jobId?: string
  width?: number
  height?: number
  uploadedAt: number
}

const handleOf = (index: number) => `media.${index}`

/** What is there already, if it is of use yet. */
export function findUpload(log: PreparationLog, index: number): StoredUpload | null {
  const stored = read(log, index)
  return stored && Date.now() - stored.uploadedAt < BLOB_LIFE_MS ? stored : null
}

export async function saveUpload(log: PreparationLog, index: number, upload: StoredUpload | null): Promise<void> {
  await log.save(handleOf(index), upload ? JSON.stringify(upload) : '')
}

/** @throws PlatformError when something was not prepared */
export function uploadedFiles({ content }: OutgoingPost, log: PreparationLog): UploadedFile[] {
  return content.mediaItems.map((_, index) => {
    const { blob, width, height } = read(log, index) ?? {}
    if (!blob) throw new PlatformError('media_not_ready', 'The post was not prepared for Bluesky', { certain: true })
    return { blob, ...(width !== undefined && height !== undefined && { aspectRatio: { width, height } }) }
  })
}

export async function forgetUploads({ content }: OutgoingPost, log: PreparationLog): Promise<void> {
  for (const index of content.mediaItems.keys()) await saveUpload(log, index, null)
}

function read(log: PreparationLog, index: number): StoredUpload | null {
  const stored = log.handle(handleOf(index))
  return stored ? (JSON.parse(stored) as StoredUpload) : null
}
