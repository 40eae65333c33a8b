import { createHash } from 'node:crypto'

const ALPHABET = '234567abcdefghijklmnopqrstuvwxyz'
const LENGTH = 13
const CLOCK_ID_BITS = 10n
/** The clock id and the low 20 bits of the microseconds. */
const OWN_BITS = 30n

/** A TID (https://atproto.com/specs/tid): microseconds since 1970 and a 10-bit clock id, in base32 that sorts like the number. */
export function toTid(microseconds: bigint, clockId: bigint): string {
  return encode((microseconds << CLOCK_ID_BITS) | clockId)
}

function encode(value: bigint): string {
  let text = ''
  for (let index = LENGTH - 1; index >= 0; index--) text += ALPHABET[Number((value >> BigInt(index * 5)) & 31n)]
  return text
}

/**
 * Derives the record key of a delivery: equal for all its repeats, and practically never equal to another delivery's, also of posts that are
 * due at one instant. It is the TID of `dueAt`; a hash of the delivery's key replaces the low 30 bits (about one second and the clock id).
 */
export function deriveRecordKey(deliveryKey: string, dueAt: Date): string {
  const hash = createHash('sha256').update(deliveryKey).digest()
  const own = BigInt(hash.readUInt32BE()) >> (32n - OWN_BITS)
  const value = (BigInt(dueAt.getTime()) * 1_000n) << CLOCK_ID_BITS
  return encode(((value >> OWN_BITS) << OWN_BITS) | own)
}
