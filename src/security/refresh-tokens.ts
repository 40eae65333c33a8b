import { createHash, createHmac, randomBytes, timingSafeEqual } from 'node:crypto'

/** A token is a nonce of this length, followed by a tag of the same length that proves its issuer. */
const HALF_BYTES = 16

/**
 * Creates the refresh tokens of a session: the first is random, and each successor is derived from its predecessor with a
 * server key. So a repeated request gets the same successor without storing it, and no one without the key can predict one.
 */
export function createRefreshTokens(secret: string) {
  const mac = (...parts: string[]) => createHmac('sha256', secret).update(parts.join('.')).digest()

  function issue(sessionId: string, nonce: Buffer): string {
    return Buffer.concat([nonce, computeTag(sessionId, nonce)]).toString('base64url')
  }

  function computeTag(sessionId: string, nonce: Buffer): Buffer {
    return mac('refresh tag', sessionId, nonce.toString('base64url')).subarray(0, HALF_BYTES)
  }

  return {
    first: (sessionId: string): string => issue(sessionId, randomBytes(HALF_BYTES)),

    successor: (sessionId: string, token: string): string => issue(sessionId, mac(token).subarray(0, HALF_BYTES)),

    /** The stored form of a token. */
    hash: (token: string): string => createHash('sha256').update(token).digest('base64url'),

    /**
     * Returns whether the token was issued for this session, at any time; an issued token that is no longer accepted was used
     * before.
     */
    wasIssued(sessionId: string, token: string): boolean {
      const bytes = Buffer.from(token, 'base64url')
      if (bytes.length !== 2 * HALF_BYTES) return false
      return timingSafeEqual(bytes.subarray(HALF_BYTES), computeTag(sessionId, bytes.subarray(0, HALF_BYTES)))
    },
  }
}

export type RefreshTokens = ReturnType<typeof createRefreshTokens>
