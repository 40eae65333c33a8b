import type { Limits } from '../../domain/billing/subscription.ts'
import { ServiceError } from '../../domain/shared/service-error.ts'
import type { Actor } from '../../domain/users/audit.ts'
import type { User } from '../../domain/users/user.ts'
import { changeUser } from '../users/change-user.ts'
import type { CommandContext } from '../context.ts'

/**
 * Sets the limits of one user. A change of the plan replaces them.
 * @param condition fields that the record must still have
 * @throws ServiceError NOT_FOUND
 */
export function changeLimits(
  deps: CommandContext,
  actor: Actor,
  userId: string,
  limits: Limits,
  condition: object = {},
): Promise<User> {
  return changeUser(deps, actor, userId, {
    action: 'update-limits',
    set: { limits },
    condition,
    facts: ({ limits: { maxPosts, maxCaptionGenerations } }) => ({ limits: { maxPosts, maxCaptionGenerations } }),
  })
}

/**
 * Raises the limits of the users with this post limit to those of their plans. It lowers no limit.
 * @returns the number of raised records
 */
export async function raiseLimits(deps: CommandContext, actor: Actor, maxPosts: number): Promise<number> {
  let count = 0
  for await (const { _id, limits, subscription } of deps.users.allWithPostLimit(maxPosts)) {
    const { plan } = subscription
    const raised = {
      maxPosts: Math.max(maxPosts, deps.planLimits[plan].maxPosts),
      maxCaptionGenerations: Math.max(limits.maxCaptionGenerations, deps.planLimits[plan].maxCaptionGenerations),
    }
    if (raised.maxPosts === maxPosts) continue
    // A user whose plan changed, or whose account is erased, meanwhile is skipped.
    const condition = { 'subscription.plan': plan, 'limits.maxPosts': maxPosts }
    const isRaised = await changeLimits(deps, actor, _id, raised, condition).then(() => true, ignoreNotFound)
    if (isRaised) count += 1
  }
  return count
}

function ignoreNotFound(error: unknown): false {
  if (error instanceof ServiceError && error.code === 'NOT_FOUND') return false
  throw error
}
