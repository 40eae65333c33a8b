import type { ProcessorSubscription } from '../../domain/billing/billing.ts'
import { getBilling } from '../../domain/billing/processor-snapshot.ts'
import type { User } from '../../domain/users/user.ts'
import type { Payments } from '../../integrations/payments/payments.ts'

/**
 * Ends what a user pays for, and has the processor forget the customer: nobody is to pay for an account that is no more. May be
 * repeated, and is not done before the processor says so.
 * @throws PaymentsError
 */
export async function endPayments(payments: Payments, user: User): Promise<void> {
  const { checkoutId, subscriptions, customerIds } = getBilling(user)
  const paid = checkoutId === null ? null : await closeCheckout(payments, checkoutId)
  const all = [...subscriptions, ...(paid ? [paid] : [])]
  await endAtOnce(payments, all, [...customerIds, user.subscription.processorCustomerId])
}

/** Ends these, and removes the customers they belong to, and others. */
export async function endAtOnce(
  payments: Payments,
  subscriptions: Pick<ProcessorSubscription, 'id' | 'customerId'>[],
  customerIds: (string | null)[],
): Promise<void> {
  for (const { id } of subscriptions) await payments.endSubscription(id, `erase/${id}`)
  const customers = new Set([...customerIds, ...subscriptions.map(({ customerId }) => customerId)])
  for (const customerId of customers) if (customerId !== null) await payments.removeCustomer(customerId)
}

export function hasPayments(user: User): boolean {
  const { checkoutId, subscriptions, customerIds } = getBilling(user)
  return (
    checkoutId !== null ||
    subscriptions.length > 0 ||
    customerIds.length > 0 ||
    user.subscription.processorCustomerId !== null
  )
}

/** What was paid with it, perhaps at the last moment, without anybody here having heard of it. */
async function closeCheckout(payments: Payments, checkoutId: string): Promise<ProcessorSubscription | null> {
  await payments.expireCheckout(checkoutId)
  const checkout = await payments.readCheckout(checkoutId)
  return checkout?.subscriptionId ? payments.readSubscription(checkout.subscriptionId) : null
}
