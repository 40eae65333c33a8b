import { createHash, randomBytes } from 'node:crypto'

const SECRET_BYTES = 32

/** Creates a random secret that proves its holder. */
export function newSecret(): string {
  return randomBytes(SECRET_BYTES).toString('base64url')
}

/** The stored form of a secret that only its holder presents: a nonce, a cookie, a request token. */
export function hashSecret(text: string): string {
  return createHash('sha256').update(text).digest('base64url')
}
