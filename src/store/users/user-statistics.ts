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
        disabled: countWhere({ $eq: ['$isDisabled', true] }),
        pro: countWhere({ $eq: ['$subscription.plan', 'pro'] }),
        createdThisMonth: countWhere({ $gte: ['$createdAt', thisMonth] }),
        createdLastMonth: countWhere(createdLastMonth),
      }
      const [counts] = await collection()
        .aggregate<UserCounts>([{ $group: group }], { maxTimeMS: DEADLINE_MS })
        .toArray()
      return counts ?? { total: 0, disabled: 0, pro: 0, createdThisMonth: 0, createdLastMonth: 0 }
    },
  }
}

function countWhere(condition: object) {
  return { $sum: { $cond: [condition, 1, 0] } }
}
