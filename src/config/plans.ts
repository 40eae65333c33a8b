import type { Config } from './schema.ts'
import type { BurstLimits } from '../domain/posts/due-order.ts'
import type { Limits, PlanWeights, SubscriptionPlan } from '../domain/billing/subscription.ts'

/** The number of platform accounts that a user of each plan can connect. */
export function accountLimits(config: Config): Record<SubscriptionPlan, number> {
  return { free: config.PLAN_FREE_MAX_ACCOUNTS, pro: config.PLAN_PRO_MAX_ACCOUNTS }
}

/** The share of a user of each plan while users wait for the same resource, as a number of jobs per turn. */
export function planWeights(config: Config): PlanWeights {
  return { free: config.PLAN_FREE_WEIGHT, pro: config.PLAN_PRO_WEIGHT }
}

/** How many posts of one user become due at one instant, and in each second after it. */
export function burstLimits(config: Config): BurstLimits {
  return { atInstant: config.USER_POSTS_AT_INSTANT, perSecond: config.USER_POSTS_PER_SECOND }
}

/** The limits of plans that are paid for. */
const PAID_LIMITS: Record<SubscriptionPlan, Limits> = {
  free: { maxPosts: 30, maxCaptionGenerations: 15 },
  pro: { maxPosts: 60, maxCaptionGenerations: 30 },
}
/** Without payments no invoice ever resets what a user has used. */
const UNPAID_LIMITS: Limits = { maxPosts: 1_000_000, maxCaptionGenerations: 1_000_000 }

/** The limits of new accounts and of accounts set to a plan now. Existing accounts keep the limits on their record. */
export function planLimits(config: Config): Record<SubscriptionPlan, Limits> {
  const { free, pro } = config.STRIPE_SECRET_KEY === '' ? { free: UNPAID_LIMITS, pro: UNPAID_LIMITS } : PAID_LIMITS
  return {
    free: {
      maxPosts: config.PLAN_FREE_MAX_POSTS ?? free.maxPosts,
      maxCaptionGenerations: config.PLAN_FREE_MAX_CAPTIONS ?? free.maxCaptionGenerations,
    },
    pro: {
      maxPosts: config.PLAN_PRO_MAX_POSTS ?? pro.maxPosts,
      maxCaptionGenerations: config.PLAN_PRO_MAX_CAPTIONS ?? pro.maxCaptionGenerations,
    },
  }
}
