import type { ProcessorSubscription } from '../../domain/billing/billing.ts'
import type { CommandContext } from '../context.ts'

/**
 * Finds the user of a payment: by the customer, else by the user id that the checkout recorded, if the user exists or existed.
 * Null for a payment of no known user.
 */
export async function findPaymentOwner(
  { users, erasures }: CommandContext,
  { customerId, userId }: { [K in 'customerId' | 'userId']: ProcessorSubscription[K] | null },
): Promise<string | null> {
  const customer = customerId === null ? null : await users.findByCustomer(customerId)
  if (customer) return customer._id
  if (userId === null) return null
  return (await users.findById(userId)) || (await erasures.find(userId)) ? userId : null
}
