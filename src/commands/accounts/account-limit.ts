import type { SubscriptionPlan } from '../../domain/billing/subscription.ts'
import type { UserStore } from '../../store/users/users.ts'

interface AccountLimitDeps {
  users: UserStore
  limits: Record<SubscriptionPlan, number>
}

/** Returns how many platform accounts the plan of a user allows. */
export function createAccountLimit({ users, limits }: AccountLimitDeps) {
  return async (userId: string): Promise<number> => {
    const user = await users.findById(userId)
    return limits[user?.subscription.plan ?? 'free']
  }
}
