import { Schema, type ClientSession, type Connection } from 'mongoose'
import { nativeCollection } from '../shared/native-collection.ts'
import { nullable, required, schemaOptions, subdocumentOptions } from '../shared/schema.ts'

/** More tokens than are mailed to one address while a link is valid, so that a stranger's requests never end the owner's link. */
const MAX_OUTSTANDING = 20

interface ResetToken {
  hash: string
  expiresAt: Date
}

/** The reset tokens mailed to an address, also for addresses without an account. Deleted when one is used. */
interface PasswordReset {
  /** Keyed hash of the address. */
  _id: string
  userId: string | null
  tokens: ResetToken[]
  removeAt: Date
}

const tokenSchema = new Schema<ResetToken>({ hash: required(String), expiresAt: required(Date) }, subdocumentOptions)

const resetSchema = new Schema<PasswordReset>(
  {
    _id: required(String),
    userId: nullable(String),
    tokens: [tokenSchema],
    removeAt: required(Date),
  },
  schemaOptions,
)

resetSchema.index({ userId: 1 })
resetSchema.index({ removeAt: 1 }, { expireAfterSeconds: 0 })

export function createPasswordResetStore(connection: Connection, now: () => Date) {
  connection.model<PasswordReset>('PasswordReset', resetSchema, 'passwordResets')

  const collection = nativeCollection<PasswordReset>(connection, 'passwordResets')

  const toTokenFilter = (addressKey: string, hash: string) => ({
    _id: addressKey,
    tokens: { $elemMatch: { hash, expiresAt: { $gt: now() } } },
  })

  return {
    /** Adds a token. Earlier valid tokens stay, so either link works. */
    async add(addressKey: string, userId: string | null, token: ResetToken): Promise<void> {
      await collection().updateOne(
        { _id: addressKey },
        {
          $set: { userId, removeAt: token.expiresAt },
          $push: { tokens: { $each: [token], $slice: -MAX_OUTSTANDING } },
        },
        { upsert: true },
      )
    },

    async isValid(addressKey: string, hash: string): Promise<boolean> {
      return (await collection().findOne(toTokenFilter(addressKey, hash))) !== null
    },

    /**
     * Consumes the token and deletes all others of the address.
     * @returns the owner's id, or null when the token is not valid
     */
    async consume(addressKey: string, hash: string, session: ClientSession): Promise<string | null> {
      const used = await collection().findOneAndDelete(toTokenFilter(addressKey, hash), { session })
      return used?.userId ?? null
    },

    async removeAllOf(userId: string, session?: ClientSession): Promise<void> {
      await collection().deleteMany({ userId }, session ? { session } : {})
    },
  }
}
