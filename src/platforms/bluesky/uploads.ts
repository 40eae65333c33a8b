import { MINUTE } from '../../domain/shared/times.ts'
import type { OutgoingPost, Checkpoints } from '../contract.ts'
import { PlatformError } from '../errors.ts'
import type { BlobRef } from './responses.ts'
import type { UploadedFile } from './record.ts'
import { readSaved } from './saved.ts'

/** Servers delete blobs that no record references after a while; older ones are uploaded again. */
const BLOB_LIFE_MS = 30 * MINUTE

/**
 * The checkpoint of an image or video, by its position in the post. An empty one means that it must be uploaded again.
 */
export interface StoredUpload {
  /** Absent while the video service processes it. */
  blob?: BlobRef
  jobId?: string
  width?: number
  height?: number
  uploadedAt: number
}

const toCheckpointName = (index: number) => `media.${index}`

/** Returns the upload if it is recent enough to use. */
export function findUpload(checkpoints: Checkpoints, index: number): StoredUpload | null {
  const stored = read(checkpoints, index)
  return stored && isRecent(stored) ? stored : null
}

/** Returns whether the server still has an upload. */
export function isRecent({ uploadedAt }: StoredUpload): boolean {
  return Date.now() - uploadedAt < BLOB_LIFE_MS
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
  return readSaved<StoredUpload>(checkpoints, toCheckpointName(index))
}
