import type { SubscriptionPlan } from '../billing/subscription.ts'
import { toEventId, type NewEvent } from './events.ts'

export interface PlanChange {
  before: SubscriptionPlan
  after: SubscriptionPlan
}

/**
 * Returns the event of another plan.
 * @param changeId names the change among all changes of plans
 */
export function planChanged({ before, after }: PlanChange, changeId: string, at: Date): NewEvent {
  const data = { plan: after, previousPlan: before }
  return { id: toEventId(changeId, 'plan'), type: 'plan.changed', occurredAt: at, data }
}

/** Returns the event of the first metrics of a day in UTC. All events of the day have the same id. */
export function analyticsCollected(userId: string, at: Date): NewEvent {
  const day = at.toISOString().slice(0, 'YYYY-MM-DD'.length)
  return { id: toEventId(userId, 'analytics', day), type: 'analytics.collected', occurredAt: at, data: { day } }
}
