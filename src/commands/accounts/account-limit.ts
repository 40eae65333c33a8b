import type { SubscriptionPlan } from '../../domain/billing/subscription.ts'
import type { UserStore } from '../../store/users/users.ts'

/** Returns how many platform accounts the plan of a user allows. */
export function createAccountLimit(users: UserStore, limits: Record<SubscriptionPlan, number>) {
  return async (userId: string): Promise<number> => {
    const user = await users.findById(userId)
    return limits[user?.subscription.plan ?? 'free']
  }
}
