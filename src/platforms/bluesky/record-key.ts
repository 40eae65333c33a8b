import { createHash } from 'node:crypto'

const ALPHABET = '234567abcdefghijklmnopqrstuvwxyz'
const LENGTH = 13
const CLOCK_ID_BITS = 10n
/** The clock id and the low ten bits of the microseconds. */
const OWN_BITS = 20n

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
 * Derives the record key of a delivery: equal for all its repeats, and almost never equal to another delivery's. It is
 * the TID of `startedAt`; a hash of the delivery's key replaces the low 20 bits (about one millisecond and the clock
 * id).
 * @param step incremented when the previous key was taken by a foreign record
 */
export function deriveRecordKey(deliveryKey: string, startedAt: Date, step = 0): string {
  const hash = createHash('sha256')
    .update(step === 0 ? deliveryKey : `${deliveryKey}/${step}`)
    .digest()
  const own = BigInt(hash.readUIntBE(0, 3)) >> (24n - OWN_BITS)
  const value = (BigInt(startedAt.getTime()) * 1_000n) << CLOCK_ID_BITS
  return encode(((value >> OWN_BITS) << OWN_BITS) | own)
}
