/** A file that is embedded in a text. */
export interface DataUrl {
  type: string
  bytes: Uint8Array<ArrayBuffer>
}

const HEAD = /^data:([a-z]+\/[a-z+.-]+);base64$/
const LONGEST_HEAD = 100

/** Decodes a base64 data URL; null for any other text. */
export function readDataUrl(url: string): DataUrl | null {
  const comma = url.slice(0, LONGEST_HEAD).indexOf(',')
  const [, type] = HEAD.exec(url.slice(0, Math.max(comma, 0))) ?? []
  if (type === undefined) return null
  const encoded = url.slice(comma + 1)
  const bytes = Buffer.from(encoded, 'base64')
  // Node's decoder skips unknown characters.
  return bytes.toString('base64') === encoded ? { type, bytes } : null
}
