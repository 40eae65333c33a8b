import { MINUTE } from '../../domain/shared/times.ts'
import type { OutgoingPost, Checkpoints } from '../contract.ts'
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

const toCheckpointName = (index: number) => `media.${index}`

/** What is there already, if it is of use yet. */
export function findUpload(checkpoints: Checkpoints, index: number): StoredUpload | null {
  const stored = read(checkpoints, index)
  return stored && Date.now() - stored.uploadedAt < BLOB_LIFE_MS ? stored : null
}

export async function saveUpload(checkpoints: Checkpoints, index: number, upload: StoredUpload | null): Promise<void> {
  await checkpoints.save(toCheckpointName(index), upload ? JSON.stringify(upload) : '')
}

/** @throws PlatformError when something was not prepared */
export function listUploadedFiles({ content }: OutgoingPost, checkpoints: Checkpoints): UploadedFile[] {
  return content.mediaItems.map((_, index) => {
    const { blob, width, height } = read(checkpoints, index) ?? {}
    if (!blob) throw new PlatformError('media_not_ready', 'The post was not prepared for Bluesky', { certain: true })
    return { blob, ...(width !== undefined && height !== undefined && { aspectRatio: { width, height } }) }
  })
}

export async function forgetUploads({ content }: OutgoingPost, checkpoints: Checkpoints): Promise<void> {
  for (const index of content.mediaItems.keys()) await saveUpload(checkpoints, index, null)
}

function read(checkpoints: Checkpoints, index: number): StoredUpload | null {
  const stored = checkpoints.get(toCheckpointName(index))
  return stored ? (JSON.parse(stored) as StoredUpload) : null
}
