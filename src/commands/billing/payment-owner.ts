import type { ErasureStore } from '../../store/users/erasures.ts'
import type { UserStore } from '../../store/users/users.ts'
import type { ProcessorSubscription } from '../../domain/billing/billing.ts'

export interface FindPaymentOwnerDeps {
  users: Pick<UserStore, 'findByCustomer' | 'findById'>
  erasures: Pick<ErasureStore, 'find'>
}

/**
 * Whose payment it is, as far as it is known here: by the customer, else by the user whom the checkout noted, where there is or was
 * one. Null when nobody's.
 */
export async function findPaymentOwner(
  { users, erasures }: FindPaymentOwnerDeps,
  { customerId, userId }: { [K in 'customerId' | 'userId']: ProcessorSubscription[K] | null },
): Promise<string | null> {
  const customer = customerId === null ? null : await users.findByCustomer(customerId)
  if (customer) return customer._id
  if (userId === null) return null
  return (await users.findById(userId)) || (await erasures.find(userId)) ? userId : null
}
