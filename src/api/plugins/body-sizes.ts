import { Transform, type Readable } from 'node:stream'
import type { FastifyRequest } from 'fastify'
import { ServiceError } from '../../domain/shared/service-error.ts'

/** Returns true when the body is or may be larger than `maxBytes`. A chunked body has no known size. */
export function mayExceed({ headers }: FastifyRequest, maxBytes: number): boolean {
  return Number(headers['content-length'] ?? Infinity) > maxBytes
}

function bodyTooLarge(): ServiceError {
  return new ServiceError('PAYLOAD_TOO_LARGE', 'Request body is too large. Send a smaller one.')
}

/** Limits a body stream to `maxBytes` and fails with 413 beyond, for routes whose limit depends on the request. */
export function limitBody(body: Readable, maxBytes: number): Readable {
  let length = 0
  const limited = new Transform({
    transform(chunk: Buffer, _encoding, done) {
      length += chunk.length
      if (length > maxBytes) done(bodyTooLarge())
      else done(null, chunk)
    },
  })
  // A route may begin to read later than the stream fails; reading it then reports the error.
  limited.on('error', () => {})
  body.once('error', (error) => limited.destroy(error))
  return body.pipe(limited)
}
