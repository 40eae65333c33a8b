import { createHash } from 'node:crypto'
import type { FastifyRequest } from 'fastify'
import { ServiceError } from '../../domain/shared/service-error.ts'
import type { Idempotency } from '../../commands/posts/create-post.ts'

const MAX_KEY_LENGTH = 200

/**
 * Reads the idempotency key of a create request from header or body, and hashes the parsed body without the key. Runs before
 * validation, so the body may be anything. Returns null without a key, and for a malformed key, which the schema rejects later.
 * @throws ServiceError IDEMPOTENCY_KEYS_DIFFER
 */
export function parseIdempotency(request: Pick<FastifyRequest, 'headers' | 'body'>): Idempotency | null {
  const { correlationId, ...body } = isObject(request.body) ? request.body : {}
  const header = request.headers['idempotency-key']
  if (typeof header === 'string' && typeof correlationId === 'string' && header !== correlationId) {
    throw new ServiceError(
      'IDEMPOTENCY_KEYS_DIFFER',
      'The Idempotency-Key header and correlationId differ. Send the same key in both, or send only one.',
    )
  }
  const key = header ?? correlationId
  if (typeof key !== 'string' || key === '' || key.length > MAX_KEY_LENGTH) return null
  return { key, requestHash: createHash('sha256').update(canonicalJson(body)).digest('base64url') }
}

/** Serializes equal values to equal text, whatever the order of their fields. The body parser limits the depth. */
function canonicalJson(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join(',')}]`
  if (!isObject(value)) return JSON.stringify(value)
  const fields = Object.keys(value)
    .sort()
    .map((name) => `${JSON.stringify(name)}:${canonicalJson(value[name])}`)
  return `{${fields.join(',')}}`
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
