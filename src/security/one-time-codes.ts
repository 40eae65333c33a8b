import { createHmac, hkdfSync, randomBytes, randomInt, randomUUID } from 'node:crypto'

const CODES = 1_000_000
const DIGITS = 6

/**
 * Codes of six digits, which could all be tried against a plain hash: they are stored under a key, made of the secret for this use
 * alone. So are the addresses they were sent to, which may belong to people who have no account here.
 */
export function createOneTimeCodes(secret: string) {
  const key = Buffer.from(hkdfSync('sha256', secret, '', 'one-time codes', 32))
  const hash = (...parts: string[]) => createHmac('sha256', key).update(JSON.stringify(parts)).digest('base64url')

  return {
    make: (): string => String(randomInt(CODES)).padStart(DIGITS, '0'),

    /** What is stored in an address's place. */
    addressKey: (email: string): string => hash('address', email),

    /** What is stored in the code's place; it belongs to one address. */
    hash: (email: string, code: string): string => hash('code', email, code),

    /** A secret for whoever sent the right code. */
    makeProof: (): string => randomBytes(32).toString('base64url'),

    /** What is stored in a proof's place. */
    hashProof: (proof: string): string => hash('proof', proof),

    /** The hash of no code. */
    unusableHash: (): string => hash('none', randomUUID()),
  }
}

export type OneTimeCodes = ReturnType<typeof createOneTimeCodes>
