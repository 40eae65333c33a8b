import type { ProcessorSubscription } from '../domain/billing.ts'
import type { User } from '../domain/user.ts'
import type { Payments } from '../integrations/payments.ts'

/**
 * Ends what a user pays for, and has the processor forget the customer: nobody is to pay for an account that is no more. May be
 * repeated, and is not done before the processor says so.
 * @throws PaymentsError
 */
export async function endPayments(payments: Payments, { subscription, billing }: User): Promise<void> {
  const paid = billing.checkoutId === null ? null : await closeCheckout(payments, billing.checkoutId)
  const subscriptions = [...billing.subscriptions, ...(paid ? [paid] : [])]
  for (const { id } of subscriptions) await payments.endSubscription(id, `erase/${id}`)
  const customers = [...subscriptions.map(({ customerId }) => customerId), subscription.processorCustomerId]
  for (const customerId of new Set(customers)) if (customerId !== null) await payments.removeCustomer(customerId)
}

export function hasPayments({ subscription, billing }: User): boolean {
  return billing.checkoutId !== null || billing.subscriptions.length > 0 || subscription.processorCustomerId !== null
}

/** What was paid with it, perhaps at the last moment, without anybody here having heard of it. */
async function closeCheckout(payments: Payments, checkoutId: string): Promise<ProcessorSubscription | null> {
  await payments.expireCheckout(checkoutId)
  const checkout = await payments.readCheckout(checkoutId)
  return checkout?.subscriptionId ? payments.readSubscription(checkout.subscriptionId) : null
}
