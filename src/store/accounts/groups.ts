import { Schema, type ClientSession, type Connection } from 'mongoose'
import { MAX_GROUPS, type AccountGroup } from '../../domain/accounts/groups.ts'
import { nativeCollection } from '../shared/native-collection.ts'
import { required, schemaOptions } from '../shared/schema.ts'

const GROUPS = 'accountGroups'

const groupSchema = new Schema<AccountGroup>(
  {
    _id: required(String),
    userId: required(String),
    name: required(String),
    nameKey: required(String),
    color: required(String),
    accountIds: [String],
    revision: required(Number),
    createdAt: required(Date),
  },
  schemaOptions,
)
groupSchema.index({ userId: 1, nameKey: 1 }, { unique: true })

/** A group and its user. */
interface GroupRef {
  _id: string
  userId: string
}

/** Stores the groups of accounts. A name that the user has already is a duplicate key error of `nameKey`. */
export function createGroupStore(connection: Connection) {
  connection.model<AccountGroup>('AccountGroup', groupSchema, GROUPS)

  const collection = nativeCollection<AccountGroup>(connection, GROUPS)

  return {
    /** Returns false when the user has the largest number of groups. Callers lock the user, so that concurrent calls are counted. */
    async insert(group: AccountGroup, session: ClientSession): Promise<boolean> {
      const count = await collection().countDocuments({ userId: group.userId }, { session })
      if (count >= MAX_GROUPS) return false
      await collection().insertOne(group, { session })
      return true
    },

    find: (userId: string, id: string): Promise<AccountGroup | null> => collection().findOne({ _id: id, userId }),

    /** The groups of the user by name. */
    listOf: (userId: string): Promise<AccountGroup[]> => collection().find({ userId }).sort({ nameKey: 1 }).toArray(),

    /**
     * @param revisions the revisions to which the change applies; undefined for any
     * @returns null without such a group
     */
    change: (
      { _id, userId }: GroupRef,
      change: Partial<Pick<AccountGroup, 'name' | 'nameKey' | 'color' | 'accountIds'>>,
      { revisions, session }: { revisions: readonly number[] | undefined; session: ClientSession },
    ): Promise<AccountGroup | null> =>
      collection().findOneAndUpdate(
        { _id, userId, ...(revisions && { revision: { $in: [...revisions] } }) },
        { $set: change, $inc: { revision: 1 } },
        { returnDocument: 'after', session },
      ),

    /** Takes accounts out of all groups of the user. */
    async removeAccounts(userId: string, ids: readonly string[], session: ClientSession): Promise<void> {
      await collection().updateMany(
        { userId, accountIds: { $in: [...ids] } },
        { $pull: { accountIds: { $in: [...ids] } }, $inc: { revision: 1 } },
        { session },
      )
    },

    /** Returns false when the user has no such group. */
    async remove(userId: string, id: string, session: ClientSession): Promise<boolean> {
      const { deletedCount } = await collection().deleteOne({ _id: id, userId }, { session })
      return deletedCount === 1
    },

    async removeAllOf(userId: string): Promise<void> {
      await collection().deleteMany({ userId })
    },
  }
}

export type GroupStore = ReturnType<typeof createGroupStore>
