import type { Actor } from '../../domain/users/audit.ts'
import { planChanged as planChangedEvent } from '../../domain/events/user-events.ts'
import { planChanged } from '../../domain/notifications/notifications.ts'
import type { SubscriptionPlan } from '../../domain/billing/subscription.ts'
import type { User } from '../../domain/users/user.ts'
import { changeUser } from '../users/change-user.ts'
import type { CommandContext } from '../context.ts'

/**
 * Moves a user to a plan with its current limits. The payment processor is not called.
 * @throws ServiceError NOT_FOUND
 */
export async function changePlan(
  deps: CommandContext,
  actor: Actor,
  userId: string,
  plan: SubscriptionPlan,
): Promise<User> {
  const user = await changeUser(deps, actor, userId, {
    action: 'update-plan',
    set: { 'subscription.plan': plan, limits: deps.planLimits[plan] },
    facts: ({ subscription, limits }) => ({
      plan: subscription.plan,
      limits: { maxPosts: limits.maxPosts, maxCaptionGenerations: limits.maxCaptionGenerations },
    }),
    notification: (user, { _id }) => planChanged(user, _id),
    async storeWith({ before, after }, { _id, at }, session) {
      const plans = { before: before.subscription.plan, after: after.subscription.plan }
      if (plans.before !== plans.after) await deps.events.append(userId, [planChangedEvent(plans, _id, at)], session)
    },
  })
  deps.events.announce([userId])
  return user
}
