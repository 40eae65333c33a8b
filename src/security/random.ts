import { createHash, randomBytes } from 'node:crypto'

const SECRET_BYTES = 32

/** Whoever shows it is who it was given to. */
export function newSecret(): string {
  return randomBytes(SECRET_BYTES).toString('base64url')
}

/** What is stored in the place of what only its holder may bring: a nonce, a cookie, a request token. */
export function hashSecret(text: string): string {
  return createHash('sha256').update(text).digest('base64url')
}
