import type { Static } from '@sinclair/typebox'
import type { User } from '../../domain/users/user.ts'
import type { StoredPaymentEvent } from '../../store/billing/payment-events.ts'
import { presentUser } from '../auth/present.ts'
import type { SubscriptionStatus } from './schema.ts'

export function presentSubscription(user: User): Static<typeof SubscriptionStatus> {
  const { subscription, usage, limits } = presentUser(user)
  return { subscription, usage, limits, plan: subscription.plan }
}

/** Converts an event for the data export, without the internal processing state. */
export function presentPaymentEvent({ _id, type, createdAt, receivedAt, ...event }: StoredPaymentEvent) {
  const { customerId, subscriptionId, invoiceId } = event
  return { id: _id, type, createdAt, receivedAt, customerId, subscriptionId, invoiceId }
}
