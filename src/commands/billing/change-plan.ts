import type { Actor } from '../../domain/users/audit.ts'
import { planChanged } from '../../domain/notifications/notifications.ts'
import type { Limits, SubscriptionPlan } from '../../domain/billing/subscription.ts'
import type { User } from '../../domain/users/user.ts'
import { changeUser, type ChangeUserDeps } from '../users/change-user.ts'

interface ChangePlanDeps extends ChangeUserDeps {
  planLimits: Record<SubscriptionPlan, Limits>
}

/**
 * Moves a user to a plan with its current limits. The payment processor is not called.
 * @throws ServiceError NOT_FOUND
 */
export function changePlan(deps: ChangePlanDeps, actor: Actor, userId: string, plan: SubscriptionPlan): Promise<User> {
  return changeUser(deps, actor, userId, {
    action: 'update-plan',
    set: { 'subscription.plan': plan, limits: deps.planLimits[plan] },
    facts: ({ subscription, limits }) => ({
      plan: subscription.plan,
      limits: { maxPosts: limits.maxPosts, maxCaptionGenerations: limits.maxCaptionGenerations },
    }),
    notification: (user, { _id }) => planChanged(user, _id),
  })
}
