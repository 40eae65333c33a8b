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
  verifiedUntil: Date | null
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
    removeAt: required(Date),
  },
  schemaOptions,
)

codeSchema.index({ removeAt: 1 }, { expireAfterSeconds: 0 })

export function createAddressCodeStore(connection: Connection, now: () => Date) {
  connection.model<AddressCode>('AddressCode', codeSchema, 'addressCodes')

  const collection = driverCollection<AddressCode>(connection, 'addressCodes')
  const removal = () => new Date(now().getTime() + KEPT_MS)

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
     * One try, by one conditional write: guesses sent side by side share the tries of the code. The right one ends it.
     * @returns whether it was right
     */
    async verify(addressKey: string, codeHash: string, verifiedUntil: Date): Promise<boolean> {
      const isRight = { $eq: ['$codeHash', { $literal: codeHash }] }
      const before = await collection().findOneAndUpdate(
        { _id: addressKey, triesLeft: { $gt: 0 }, expiresAt: { $gt: now() } },
        [
          {
            $set: {
              triesLeft: { $cond: [isRight, 0, { $subtract: ['$triesLeft', 1] }] },
              verifiedUntil: { $cond: [isRight, verifiedUntil, '$verifiedUntil'] },
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

    async isVerified(addressKey: string): Promise<boolean> {
      return (await collection().findOne({ _id: addressKey, verifiedUntil: { $gt: now() } })) !== null
    },

    /** False when there is nothing to use up. */
    async useVerification(addressKey: string, session: ClientSession): Promise<boolean> {
      const { matchedCount } = await collection().updateOne(
        { _id: addressKey, verifiedUntil: { $gt: now() } },
        { $set: { verifiedUntil: null } },
        { session },
      )
      return matchedCount === 1
    },
  }
}
