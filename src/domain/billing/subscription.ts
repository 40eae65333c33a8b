export const SUBSCRIPTION_PLANS = ['free', 'pro'] as const
export type SubscriptionPlan = (typeof SUBSCRIPTION_PLANS)[number]
export const SUBSCRIPTION_STATUSES = ['active', 'cancelled', 'pastDue'] as const

export interface Subscription {
  plan: SubscriptionPlan
  status: (typeof SUBSCRIPTION_STATUSES)[number]
  processorCustomerId: string | null
  processorSubscriptionId: string | null
  currentPeriodStart: Date | null
  currentPeriodEnd: Date | null
  cancelAtPeriodEnd: boolean
}

export interface Usage {
  postsCreated: number
  captionGenerations: number
}

/** Jobs per turn of a user of each plan. */
export type PlanWeights = Record<SubscriptionPlan, number>

export interface Limits {
  maxPosts: number
  maxCaptionGenerations: number
}
