import type { ProcessorSubscription } from '../../domain/billing/billing.ts'
import type { User } from '../../domain/users/user.ts'
import type { Payments } from '../../integrations/payments/payments.ts'

/**
 * Ends a user's subscriptions and removes the customer at the processor, so that an erased account is never charged. Can be
 * repeated; returns only after the processor has confirmed.
 * @throws PaymentsError
 */
export async function endPayments(payments: Payments, user: User): Promise<void> {
  const { checkoutId, subscriptions, customerIds } = user.billing
  const paid = checkoutId === null ? null : await closeCheckout(payments, checkoutId)
  const all = [...subscriptions, ...(paid ? [paid] : [])]
  await endSubscriptions(payments, all, [...customerIds, user.subscription.processorCustomerId])
}

/** Ends these subscriptions, and removes their customers and the given ones. */
export async function endSubscriptions(
  payments: Payments,
  subscriptions: Pick<ProcessorSubscription, 'id' | 'customerId'>[],
  customerIds: (string | null)[],
): Promise<void> {
  for (const { id } of subscriptions) await payments.endSubscription(id, `erase/${id}`)
  const customers = new Set([...customerIds, ...subscriptions.map(({ customerId }) => customerId)])
  for (const customerId of customers) if (customerId !== null) await payments.removeCustomer(customerId)
}

export function hasPayments(user: User): boolean {
  const { checkoutId, subscriptions, customerIds } = user.billing
  return (
    checkoutId !== null ||
    subscriptions.length > 0 ||
    customerIds.length > 0 ||
    user.subscription.processorCustomerId !== null
  )
}

/** Expires the checkout, and returns the subscription if it was paid at the last moment before its webhook arrived. */
async function closeCheckout(payments: Payments, checkoutId: string): Promise<ProcessorSubscription | null> {
  await payments.expireCheckout(checkoutId)
  const checkout = await payments.readCheckout(checkoutId)
  return checkout?.subscriptionId ? payments.readSubscription(checkout.subscriptionId) : null
}
