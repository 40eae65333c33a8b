import { randomUUID } from 'node:crypto'

interface FilePart {
  field: string
  /** Shown to the server; never a name from outside. */
  fileName: string
  mimeType: string
  sizeBytes: number
  content: Uint8Array | AsyncIterable<Uint8Array>
}

/**
 * A `multipart/form-data` body (RFC 7578) with one file, which is passed on as it is read. Its length is told, because a file cut
 * short must not count as the whole, and some servers take no body without.
 */
export function multipart(fields: Record<string, string>, file: FilePart) {
  const boundary = `postonce-${randomUUID()}`
  const texts = Object.entries(fields).map(
    ([name, value]) => `--${boundary}\r\ncontent-disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`,
  )
  const disposition = `form-data; name="${file.field}"; filename="${file.fileName}"`
  const head = `--${boundary}\r\ncontent-disposition: ${disposition}\r\ncontent-type: ${file.mimeType}\r\n\r\n`
  const before = Buffer.from(texts.join('') + head)
  const after = Buffer.from(`\r\n--${boundary}--\r\n`)

  async function* body(): AsyncGenerator<Uint8Array> {
    yield before
    if (file.content instanceof Uint8Array) yield file.content
    else yield* file.content
    yield after
  }

  return {
    headers: {
      'content-type': `multipart/form-data; boundary=${boundary}`,
      'content-length': String(before.length + file.sizeBytes + after.length),
    },
    body: body(),
  }
}
