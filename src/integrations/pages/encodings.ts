/** Decodes the pieces of a page. */
export type Decoder = InstanceType<typeof TextDecoder>

/** The bytes in which a page declares its encoding, if it does (https://html.spec.whatwg.org/#determining-the-character-encoding). */
export const DECLARATION_BYTES = 1_024

const BYTE_ORDER_MARKS: [mark: number[], encoding: string][] = [
  [[0xef, 0xbb, 0xbf], 'utf-8'],
  [[0xfe, 0xff], 'utf-16be'],
  [[0xff, 0xfe], 'utf-16le'],
  // The first character of a page without a mark.
  [[0x3c, 0x00], 'utf-16le'],
  [[0x00, 0x3c], 'utf-16be'],
]
const CHARSET = /charset\s{0,9}=\s{0,9}["']?([\w.:-]{1,40})/i
const META_CHARSET = new RegExp(`<meta[^>]{0,200}?${CHARSET.source}`, 'i')

/**
 * Creates the decoder of a page from its marks, else its headers, its declaration, or what its bytes can be.
 * @param start the first bytes of the page
 */
export function createPageDecoder(start: Uint8Array, contentType: string): Decoder {
  const marked = BYTE_ORDER_MARKS.find(([mark]) => mark.every((byte, index) => start[index] === byte))?.[1]
  const [, inHeader] = CHARSET.exec(contentType) ?? []
  const [, inPage] = META_CHARSET.exec(Buffer.from(start.subarray(0, DECLARATION_BYTES)).toString('latin1')) ?? []
  // A declaration that could be read as ASCII is wrong about UTF-16.
  const declared = inPage !== undefined && /^utf-16/i.test(inPage) ? 'utf-8' : inPage
  const labels = [marked, inHeader, declared].filter((label) => label !== undefined)
  for (const label of labels) {
    const decoder = tryDecoder(label)
    if (decoder) return decoder
  }
  return new TextDecoder(isUtf8(start) ? 'utf-8' : 'windows-1252')
}

/** Returns null for an unknown encoding. */
function tryDecoder(label: string): Decoder | null {
  try {
    return new TextDecoder(label)
  } catch {
    return null
  }
}

function isUtf8(start: Uint8Array): boolean {
  try {
    // The last character may be incomplete.
    new TextDecoder('utf-8', { fatal: true }).decode(start, { stream: true })
    return true
  } catch {
    return false
  }
}
