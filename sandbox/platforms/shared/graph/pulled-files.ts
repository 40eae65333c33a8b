import { fileTypeFromBuffer } from 'file-type'

export interface PulledFile {
  mimeType: string
  sizeBytes: number
  /** The whole file, or only the beginning of a long one. */
  bytes: Buffer
}

const TIMEOUT_MS = 60_000
const MAX_CACHED_BYTES = 33_554_432

/**
 * Fetches the file at a client's URL, as the platform does, without following redirects. The bytes decide its type.
 * Null: it cannot be fetched.
 */
export async function pullFile(url: string): Promise<PulledFile | null> {
  if (!/^https?:\/\/[\x21-\x7e]+$/.test(url)) return null
  try {
    const answer = await fetch(url, { redirect: 'error', signal: AbortSignal.timeout(TIMEOUT_MS) })
    if (!answer.ok || !answer.body) {
      await answer.body?.cancel()
      return null
    }
    const pieces: Uint8Array[] = []
    let sizeBytes = 0
    for await (const piece of answer.body) {
      if (sizeBytes < MAX_CACHED_BYTES) pieces.push(piece)
      sizeBytes += piece.length
    }
    const bytes = Buffer.concat(pieces)
    const type = await fileTypeFromBuffer(bytes)
    return { bytes, sizeBytes, mimeType: type?.mime ?? 'application/octet-stream' }
  } catch {
    return null
  }
}
