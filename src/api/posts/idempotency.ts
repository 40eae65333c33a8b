import { createHash } from 'node:crypto'
import type { FastifyRequest } from 'fastify'
import { ServiceError } from '../../domain/shared/service-error.ts'
import type { Idempotency } from '../../commands/posts/create-post.ts'

const MAX_KEY_LENGTH = 200

/**
 * The key of a create, from header or body, and the hash of the parsed body without it. Runs before validation, so the
 * body may be anything; a key that cannot be one is left to the schema to refuse.
 * @throws ServiceError IDEMPOTENCY_KEYS_DIFFER
 */
export function parseIdempotency(request: Pick<FastifyRequest, 'headers' | 'body'>): Idempotency | null {
  const { correlationId, ...body } = isObject(request.body) ? request.body : {}
  const header = request.headers['idempotency-key']
  if (typeof header === 'string' && typeof correlationId === 'string' && header !== correlationId) {
    throw new ServiceError('IDEMPOTENCY_KEYS_DIFFER', 'Idempotency-Key and correlationId differ')
  }
  const key = header ?? correlationId
  if (typeof key !== 'string' || key === '' || key.length > MAX_KEY_LENGTH) return null
  return { key, requestHash: createHash('sha256').update(canonicalJson(body)).digest('base64url') }
}

/** The same text for the same value, in whatever order its fields came. The body parser bounds the depth. */
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
