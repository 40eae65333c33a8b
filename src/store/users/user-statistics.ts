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
    /**
     * Counts users. The total is MongoDB's own, the others read only the index entries that they count. So the cost does not grow with the
     * users who were created before last month, are enabled and on the Free plan.
     */
    async count({ thisMonth, lastMonth }: { thisMonth: Date; lastMonth: Date }): Promise<UserCounts> {
      const options = { maxTimeMS: DEADLINE_MS }
      const count = (filter: object) => collection().countDocuments(filter, options)
      const [total, disabled, pro, createdThisMonth, createdLastMonth] = await Promise.all([
        collection().estimatedDocumentCount(options),
        count({ isDisabled: true }),
        count({ 'subscription.plan': 'pro' }),
        count({ createdAt: { $gte: thisMonth } }),
        count({ createdAt: { $gte: lastMonth, $lt: thisMonth } }),
      ])
      return { total, disabled, pro, createdThisMonth, createdLastMonth }
    },
  }
}
