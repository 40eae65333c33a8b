import { Transform, type Readable } from 'node:stream'
import type { FastifyRequest } from 'fastify'
import { ServiceError } from '../../domain/shared/service-error.ts'

/** Whether the body is larger than so many bytes, or may be: a chunked one does not say. */
export function mayExceed({ headers }: FastifyRequest, maxBytes: number): boolean {
  return Number(headers['content-length'] ?? Infinity) > maxBytes
}

/** A request body that fails with 413 as soon as it is longer than so many bytes, for routes whose limit depends on the request. */
export function limitBody(body: Readable, maxBytes: number): Readable {
  let length = 0
  const limited = new Transform({
    transform(chunk: Buffer, _encoding, done) {
      length += chunk.length
      if (length > maxBytes) done(new ServiceError('PAYLOAD_TOO_LARGE', 'Request body is too large'))
      else done(null, chunk)
    },
  })
  body.once('error', (error) => limited.destroy(error))
  return body.pipe(limited)
}
