import { createHash, createHmac, randomBytes } from 'node:crypto'

/**
 * Refresh tokens of one family: the first is random, each successor is derived from its predecessor under a server key.
 * So a request that is repeated gets the very same successor without our storing it, and nobody without the key can foresee one.
 */
export function createRefreshTokens(secret: string) {
  const successor = (token: string): string => createHmac('sha256', secret).update(token).digest('base64url')

  return {
    first: (): string => randomBytes(32).toString('base64url'),
    successor,
    /** What is stored in a token's place. */
    hash: hashOf,

    /** Whether the token with this hash descends from `token` within so many generations: then `token` was good once. */
    isAncestor(token: string, tokenHash: string, generations: number): boolean {
      let descendant = token
      for (let left = generations; left > 0; left -= 1) {
        descendant = successor(descendant)
        if (hashOf(descendant) === tokenHash) return true
      }
      return false
    },
  }
}

function hashOf(token: string): string {
  return createHash('sha256').update(token).digest('base64url')
}
