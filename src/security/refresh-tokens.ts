import { createHash, createHmac, randomBytes, timingSafeEqual } from 'node:crypto'

/** A token is a nonce of this length, and a tag of the same length that proves who issued it. */
const HALF_BYTES = 16

/**
 * Refresh tokens of one family: the first is random, each successor is derived from its predecessor under a server key.
 * So a request that is repeated gets the very same successor without our storing it, and nobody without the key can foresee one.
 */
export function createRefreshTokens(secret: string) {
  const mac = (...parts: string[]) => createHmac('sha256', secret).update(parts.join('.')).digest()

  function issue(sessionId: string, nonce: Buffer): string {
    return Buffer.concat([nonce, tagOf(sessionId, nonce)]).toString('base64url')
  }

  function tagOf(sessionId: string, nonce: Buffer): Buffer {
    return mac('refresh tag', sessionId, nonce.toString('base64url')).subarray(0, HALF_BYTES)
  }

  return {
    first: (sessionId: string): string => issue(sessionId, randomBytes(HALF_BYTES)),

    successor: (sessionId: string, token: string): string => issue(sessionId, mac(token).subarray(0, HALF_BYTES)),

    /** What is stored in a token's place. */
    hash: (token: string): string => createHash('sha256').update(token).digest('base64url'),

    /**
     * Whether the token was issued for this session, however long ago: so one that is not accepted any more was spent. False for
     * tokens of versions that issued none with a tag.
     */
    wasIssued(sessionId: string, token: string): boolean {
      const bytes = Buffer.from(token, 'base64url')
      if (bytes.length !== 2 * HALF_BYTES) return false
      return timingSafeEqual(bytes.subarray(HALF_BYTES), tagOf(sessionId, bytes.subarray(0, HALF_BYTES)))
    },
  }
}

export type RefreshTokens = ReturnType<typeof createRefreshTokens>
