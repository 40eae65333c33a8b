import { Schema, type ClientSession, type Connection } from 'mongoose'
import { nativeCollection } from '../shared/native-collection.ts'
import { nullable, required, schemaOptions, subdocumentOptions } from '../shared/schema.ts'

/** More than are mailed to one address while a link works, whoever asks: a stranger's requests must not end the owner's link. */
const MOST_OUTSTANDING = 20

interface ResetToken {
  hash: string
  expiresAt: Date
}

/** The ways to a new password that an address was sent; there is one for nobody, too. Gone when one of them is used. */
interface PasswordReset {
  /** Stands for the address. */
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

  const withToken = (addressKey: string, hash: string) => ({
    _id: addressKey,
    tokens: { $elemMatch: { hash, expiresAt: { $gt: now() } } },
  })

  return {
    /** Beside those that are still good: whoever asks twice may follow either link. */
    async add(addressKey: string, userId: string | null, token: ResetToken): Promise<void> {
      await collection().updateOne(
        { _id: addressKey },
        {
          $set: { userId, removeAt: token.expiresAt },
          $push: { tokens: { $each: [token], $slice: -MOST_OUTSTANDING } },
        },
        { upsert: true },
      )
    },

    async isValid(addressKey: string, hash: string): Promise<boolean> {
      return (await collection().findOne(withToken(addressKey, hash))) !== null
    },

    /** Uses the token up, and all others of the address with it. @returns whose it was, or null when it is not good */
    async consume(addressKey: string, hash: string, session: ClientSession): Promise<string | null> {
      const used = await collection().findOneAndDelete(withToken(addressKey, hash), { session })
      return used?.userId ?? null
    },

    async removeAllOf(userId: string, session?: ClientSession): Promise<void> {
      await collection().deleteMany({ userId }, session ? { session } : {})
    },
  }
}

export type PasswordResetStore = ReturnType<typeof createPasswordResetStore>
