import type { FastifyRequest } from 'fastify'

const STRICT = /\bhandling=strict\b/i

/** Returns true when unknown fields are refused instead of ignored: for API keys, and with `Prefer: handling=strict`. */
export function isStrict({ headers, user }: FastifyRequest): boolean {
  return user.apiKey !== null || STRICT.test([headers.prefer ?? []].flat().join(','))
}
