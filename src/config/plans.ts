import type { Config } from './schema.ts'
import type { Limits, SubscriptionPlan } from '../domain/billing/subscription.ts'

/** What an account may do that is made now, or set to a plan now; existing ones keep what stands on their record (spec section 2). */
export function planLimits(config: Config): Record<SubscriptionPlan, Limits> {
  return {
    free: { maxPosts: config.PLAN_FREE_MAX_POSTS, maxCaptionGenerations: config.PLAN_FREE_MAX_CAPTIONS },
    pro: { maxPosts: config.PLAN_PRO_MAX_POSTS, maxCaptionGenerations: config.PLAN_PRO_MAX_CAPTIONS },
  }
}
