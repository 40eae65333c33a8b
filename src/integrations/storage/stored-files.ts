import { findSizeProblem } from '../../domain/posts/media-files.ts'

/** The bytes of a file's beginning that suffice to detect its type. */
export const SNIFF_BYTES = 4_100

/** A 32-bit length and a code of four letters. */
const BOX_HEADER_BYTES = 8

/** Other names of types that we store. */
const SAME_AS: Record<string, string> = { 'image/jpg': 'image/jpeg', 'image/apng': 'image/png' }

export interface FoundFile {
  sizeBytes: number
  head: Uint8Array
}

/** Returns how a file differs from its declared type or size, as the end of a sentence; null when it matches. */
export async function fileProblem(
  { sizeBytes, head }: FoundFile,
  { type, maxBytes }: { type: string; maxBytes: number },
): Promise<string | null> {
  const sizeProblem = findSizeProblem(sizeBytes, maxBytes)
  if (sizeProblem !== null) return sizeProblem
  const found = await detectType(head)
  if (found === undefined) return `is not ${normalizeType(type)}, as declared`
  return normalizeType(found) === normalizeType(type) ? null : `is ${found}, not ${type} as declared`
}

/** Returns the type of a file by its beginning; undefined for an unknown one. */
export async function detectType(head: Uint8Array): Promise<string | undefined> {
  // Loaded late, because few processes need it.
  const { fileTypeFromBuffer } = await import('file-type')
  return (await fileTypeFromBuffer(head))?.mime
}

export function normalizeType(type: string): string {
  return SAME_AS[type] ?? type
}

/**
 * Returns whether the index of an MP4 or QuickTime file comes before its pictures; null when its beginning does not show it. The library that
 * reads videos does not report the order.
 */
export function hasIndexFirst(head: Uint8Array): boolean | null {
  const view = new DataView(head.buffer, head.byteOffset, head.byteLength)
  for (let at = 0; at + BOX_HEADER_BYTES <= head.length;) {
    const type = String.fromCharCode(...head.subarray(at + 4, at + BOX_HEADER_BYTES))
    if (type === 'moov' || type === 'mdat') return type === 'moov'
    const length = view.getUint32(at)
    // A length of 0 or 1 is that of a large box, which is neither a header nor padding.
    if (length < BOX_HEADER_BYTES) return null
    at += length
  }
  return null
}
