import { fileTypeFromBuffer } from 'file-type'

export interface PulledFile {
  mimeType: string
  bytes: Buffer
}

const TIMEOUT_MS = 30_000

/**
 * Gets a file from the address that a client gave, as the platform itself does: straight, without following further than that.
 * What it is, its bytes tell. Null: it cannot be had.
 */
export async function pullFile(url: string): Promise<PulledFile | null> {
  if (!/^https?:\/\//.test(url)) return null
  try {
    const answer = await fetch(url, { redirect: 'error', signal: AbortSignal.timeout(TIMEOUT_MS) })
    if (!answer.ok) {
      await answer.body?.cancel()
      return null
    }
    const bytes = Buffer.from(await answer.arrayBuffer())
    const type = await fileTypeFromBuffer(bytes)
    return { bytes, mimeType: type?.mime ?? 'application/octet-stream' }
  } catch {
    return null
  }
}
