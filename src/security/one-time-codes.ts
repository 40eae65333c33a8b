import { createHmac, hkdfSync, randomBytes, randomInt, randomUUID } from 'node:crypto'

const CODES = 1_000_000
const DIGITS = 6

/**
 * Creates one-time codes of six digits. All codes could be tried against a plain hash, so they are stored as keyed hashes, with
 * a key derived for this use alone. So are their addresses, which may belong to people without an account.
 */
export function createOneTimeCodes(secret: string) {
  const key = Buffer.from(hkdfSync('sha256', secret, '', 'one-time codes', 32))
  const hash = (...parts: string[]) => createHmac('sha256', key).update(JSON.stringify(parts)).digest('base64url')

  return {
    make: (): string => String(randomInt(CODES)).padStart(DIGITS, '0'),

    /** The stored form of an address. */
    addressKey: (email: string): string => hash('address', email),

    /** The stored form of a code, bound to its address. */
    hash: (email: string, code: string): string => hash('code', email, code),

    /** A secret for the sender of the right code. */
    makeProof: (): string => randomBytes(32).toString('base64url'),

    /** The stored form of a proof. */
    hashProof: (proof: string): string => hash('proof', proof),

    /** A hash that no code matches. */
    unusableHash: (): string => hash('none', randomUUID()),
  }
}

export type OneTimeCodes = ReturnType<typeof createOneTimeCodes>
