/** As much of a file's beginning as telling its type can need. */
export const SNIFF_BYTES = 4_100

export const MISSING_FILE = 'was never uploaded, or is gone'

/** Types that differ from what we store only by name. */
const SAME_AS: Record<string, string> = { 'image/jpg': 'image/jpeg', 'video/x-m4v': 'video/mp4' }

export interface FoundFile {
  sizeBytes: number
  head: Uint8Array
}

/** In what a file is not what it was said to be, as the end of a sentence about it; null when it is. */
export async function fileProblem(
  { sizeBytes, head }: FoundFile,
  { type, maxBytes }: { type: string; maxBytes: number },
): Promise<string | null> {
  if (sizeBytes === 0) return 'is empty'
  if (sizeBytes > maxBytes) return `is too large: ${sizeBytes} of at most ${maxBytes} bytes`
  // Few calls of few processes need it.
  const { fileTypeFromBuffer } = await import('file-type')
  const found = (await fileTypeFromBuffer(head))?.mime
  if (found === undefined) return `is not ${normalizeType(type)}, as it was said to be`
  return normalizeType(found) === normalizeType(type) ? null : `is ${found}, not ${type} as it was said to be`
}

export function normalizeType(type: string): string {
  return SAME_AS[type] ?? type
}
