import { randomUUID } from 'node:crypto'

interface Part {
  field: string
  /** Absent for a plain field. Sent to the server, so it is never a name from outside. */
  fileName?: string
  /** Absent for plain text. */
  mimeType?: string
  sizeBytes: number
  /** Called when the part is sent, so that only one file is open at a time. */
  open(): Promise<Uint8Array | AsyncIterable<Uint8Array>>
}

/**
 * Creates a `multipart/form-data` body (RFC 7578) that streams its parts. It states its length, so that a truncated
 * file is not accepted as complete; some servers also require it.
 */
export function createMultipartBody(parts: Part[]) {
  const boundary = `postonce-${randomUUID()}`
  const framed = parts.map((part) => ({ part, head: toPartHeader(boundary, part) }))
  const end = Buffer.from(`--${boundary}--\r\n`)
  const length = framed.reduce(
    (sum, { head, part }) => sum + head.length + part.sizeBytes + LINE_END.length,
    end.length,
  )

  async function* body(): AsyncGenerator<Uint8Array> {
    for (const { head, part } of framed) {
      yield head
      const content = await part.open()
      if (content instanceof Uint8Array) yield content
      else yield* content
      yield LINE_END
    }
    yield end
  }

  return {
    headers: { 'content-type': `multipart/form-data; boundary=${boundary}`, 'content-length': String(length) },
    body: body(),
  }
}

export function createTextPart(field: string, text: string, mimeType?: string): Part {
  const bytes = Buffer.from(text)
  return { field, sizeBytes: bytes.length, open: async () => bytes, ...(mimeType !== undefined && { mimeType }) }
}

const LINE_END = Buffer.from('\r\n')

function toPartHeader(boundary: string, { field, fileName, mimeType }: Part): Buffer {
  const file = fileName === undefined ? '' : `; filename="${fileName}"`
  const type = mimeType === undefined ? '' : `content-type: ${mimeType}\r\n`
  return Buffer.from(`--${boundary}\r\ncontent-disposition: form-data; name="${field}"${file}\r\n${type}\r\n`)
}
