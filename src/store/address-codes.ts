import { Schema, type ClientSession, type Connection } from 'mongoose'
import { HOUR } from '../domain/times.ts'
import { driverCollection } from './driver.ts'
import { schemaOptions } from './schema-options.ts'

const TRIES = 5
/** Longer than a code and what it proves are good. */
const KEPT_MS = HOUR

/** The code that an address was sent last, and whether it was told to us. */
interface AddressCode {
  /** Stands for the address. */
  _id: string
  codeHash: string
  triesLeft: number
  expiresAt: Date
  /** Until when the proof works. */
  verifiedUntil: Date | null
  /** Hash of the proof that whoever sent the right code was given. Absent before, and in records of versions without proofs. */
  proofHash?: string
  removeAt: Date
}

const required = <T>(type: T) => ({ type, required: true }) as const

const codeSchema = new Schema<AddressCode>(
  {
    _id: required(String),
    codeHash: required(String),
    triesLeft: required(Number),
    expiresAt: required(Date),
    verifiedUntil: { type: Date, default: null },
    proofHash: String,
    removeAt: required(Date),
  },
  schemaOptions,
)

codeSchema.index({ removeAt: 1 }, { expireAfterSeconds: 0 })
codeSchema.index({ proofHash: 1 }, { partialFilterExpression: { proofHash: { $type: 'string' } } })

interface Proof {
  proofHash: string
  verifiedUntil: Date
}

export function createAddressCodeStore(connection: Connection, now: () => Date) {
  connection.model<AddressCode>('AddressCode', codeSchema, 'addressCodes')

  const collection = driverCollection<AddressCode>(connection, 'addressCodes')
  const removal = () => new Date(now().getTime() + KEPT_MS)
  const provenBy = (addressKey: string, proofHashes: string[]) => ({
    _id: addressKey,
    proofHash: { $in: proofHashes },
    verifiedUntil: { $gt: now() },
  })

  return {
    /** In place of the code before. That the address was verified stands: else strangers could undo it. */
    async put(addressKey: string, { codeHash, expiresAt }: Pick<AddressCode, 'codeHash' | 'expiresAt'>): Promise<void> {
      await collection().updateOne(
        { _id: addressKey },
        {
          $set: { codeHash, expiresAt, triesLeft: TRIES, removeAt: removal() },
          $setOnInsert: { verifiedUntil: null },
        },
        { upsert: true },
      )
    },

    /**
     * One try, by one conditional write: guesses sent side by side share the tries of the code. The right one ends it, and stores
     * the proof in place of an earlier one.
     * @returns whether it was right
     */
    async verify(addressKey: string, codeHash: string, { proofHash, verifiedUntil }: Proof): Promise<boolean> {
      const isRight = { $eq: ['$codeHash', { $literal: codeHash }] }
      const before = await collection().findOneAndUpdate(
        { _id: addressKey, triesLeft: { $gt: 0 }, expiresAt: { $gt: now() } },
        [
          {
            $set: {
              triesLeft: { $cond: [isRight, 0, { $subtract: ['$triesLeft', 1] }] },
              verifiedUntil: { $cond: [isRight, verifiedUntil, '$verifiedUntil'] },
              proofHash: { $cond: [isRight, { $literal: proofHash }, '$proofHash'] },
              removeAt: { $cond: [isRight, removal(), '$removeAt'] },
            },
          },
        ],
        { returnDocument: 'before', projection: { codeHash: 1 } },
      )
      return before?.codeHash === codeHash
    },

    async remove(addressKey: string): Promise<void> {
      await collection().deleteOne({ _id: addressKey })
    },

    /** The address that any of these proofs still works for, as its key; null when there is none. */
    async findProven(proofHashes: string[]): Promise<string | null> {
      const found = await collection().findOne(
        { proofHash: { $in: proofHashes }, verifiedUntil: { $gt: now() } },
        { projection: { _id: 1 } },
      )
      return found?._id ?? null
    },

    /** Whether any of these proofs works for the address. */
    async isProven(addressKey: string, proofHashes: string[]): Promise<boolean> {
      return (await collection().findOne(provenBy(addressKey, proofHashes), { projection: { _id: 1 } })) !== null
    },

    /** Uses the proof of the address up. False when none of these works for it. */
    async useProof(addressKey: string, proofHashes: string[], session: ClientSession): Promise<boolean> {
      const { matchedCount } = await collection().updateOne(
        provenBy(addressKey, proofHashes),
        { $set: { verifiedUntil: null }, $unset: { proofHash: 1 } },
        { session },
      )
      return matchedCount === 1
    },
  }
}
