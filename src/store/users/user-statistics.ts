import type { Connection } from 'mongoose'
import { SECOND } from '../../domain/shared/times.ts'
import type { User } from '../../domain/users/user.ts'
import type { UserCounts } from '../../domain/users/user-statistics.ts'
import { nativeCollection } from '../shared/native-collection.ts'

/** Shorter than a request's deadline, so that the error reaches the client. */
const DEADLINE_MS = 4 * SECOND

export function createUserStatistics(connection: Connection) {
  const collection = nativeCollection<User>(connection, 'users')

  return {
    /** Counts all users in one pass. */
    async count({ thisMonth, lastMonth }: { thisMonth: Date; lastMonth: Date }): Promise<UserCounts> {
      const createdLastMonth = { $and: [{ $gte: ['$createdAt', lastMonth] }, { $lt: ['$createdAt', thisMonth] }] }
      const group = {
        _id: null,
        total: { $sum: 1 },
        disabled: countIf({ $eq: ['$isDisabled', true] }),
        pro: countIf({ $eq: ['$subscription.plan', 'pro'] }),
        createdThisMonth: countIf({ $gte: ['$createdAt', thisMonth] }),
        createdLastMonth: countIf(createdLastMonth),
      }
      const [counts] = await collection()
        .aggregate<UserCounts>([{ $group: group }], { maxTimeMS: DEADLINE_MS })
        .toArray()
      return counts ?? { total: 0, disabled: 0, pro: 0, createdThisMonth: 0, createdLastMonth: 0 }
    },
  }
}

function countIf(condition: object) {
  return { $sum: { $cond: [condition, 1, 0] } }
}
