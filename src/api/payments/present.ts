import type { Static } from '@sinclair/typebox'
import type { Allowance } from '../../domain/billing/plans.ts'
import type { User } from '../../domain/users/user.ts'
import type { StoredPaymentEvent } from '../../store/billing/payment-events.ts'
import { presentUser } from '../auth/present.ts'
import type { SubscriptionStatus } from './schema.ts'

export function presentSubscription(user: User, accounts: Allowance): Static<typeof SubscriptionStatus> {
  const { subscription, usage, limits } = presentUser(user)
  return {
    subscription,
    usage: { ...usage, accounts: accounts.used },
    limits: { ...limits, maxAccounts: accounts.limit },
    plan: subscription.plan,
  }
}

/** Converts an event for the data export, without the internal processing state. */
export function presentPaymentEvent({ _id, type, createdAt, receivedAt, ...event }: StoredPaymentEvent) {
  const { customerId, subscriptionId, invoiceId } = event
  return { id: _id, type, createdAt, receivedAt, customerId, subscriptionId, invoiceId }
}
