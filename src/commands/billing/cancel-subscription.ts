import type { Context } from '../../context.ts'
import { getBilling } from '../../domain/billing/processor-snapshot.ts'
import { PaymentsError } from '../../domain/billing/payments-error.ts'
import { ServiceError } from '../../domain/shared/service-error.ts'
import type { User } from '../../domain/users/user.ts'
import { catchUp, keyOfMinute, setUp } from './payment-calls.ts'

type Deps = Pick<Context, 'users' | 'payments' | 'syncSubscription' | 'clock' | 'logger'>

/**
 * Ends the subscription with the period that is paid for. When this resolves the processor has it so, and mostly the record as well.
 * @throws ServiceError NO_ACTIVE_SUBSCRIPTION, NO_SUBSCRIPTION_ID, ALREADY_CANCELLING; PAYMENTS_UNAVAILABLE, and then nothing is changed
 */
export async function cancelSubscription(deps: Deps, userId: string): Promise<void> {
  const { users, clock } = deps
  const { subscriptionId, revision } = cancellableOf(await users.findById(userId))
  const payments = setUp(deps.payments)
  // With the revision: who resumed meanwhile on the processor's pages, and cancels again, does not repeat the first call.
  const key = keyOfMinute(`cancel/${subscriptionId}/${revision}`, clock.now())
  try {
    await payments.cancelAtPeriodEnd(subscriptionId, key)
  } catch (error) {
    if (!(error instanceof PaymentsError)) throw error
    // It may have ended there without anybody here having heard of it.
    if (error.isRefused && (await catchUp(deps, userId))) cancellableOf(await users.findById(userId))
    throw unavailable(error)
  }
  if (!(await catchUp(deps, userId))) return

  // The processor may have repeated an earlier answer: what counts is how it stands now.
  const now = (await users.findById(userId))?.subscription
  if (now?.processorSubscriptionId === subscriptionId && !now.cancelAtPeriodEnd) throw unavailable()
}

/** What there is to cancel; refuses in the order of spec 4.6. */
function cancellableOf(user: User | null): { subscriptionId: string; revision: number } {
  if (user?.subscription.plan !== 'pro') {
    throw new ServiceError('NO_ACTIVE_SUBSCRIPTION', 'No active Pro subscription to cancel')
  }
  const { processorSubscriptionId, cancelAtPeriodEnd } = user.subscription
  if (processorSubscriptionId === null) throw new ServiceError('NO_SUBSCRIPTION_ID', 'No Stripe subscription ID found')
  if (cancelAtPeriodEnd) {
    throw new ServiceError('ALREADY_CANCELLING', 'Subscription is already scheduled for cancellation')
  }
  return { subscriptionId: processorSubscriptionId, revision: getBilling(user).revision }
}

function unavailable(cause?: PaymentsError): ServiceError {
  return new ServiceError('PAYMENTS_UNAVAILABLE', 'The subscription could not be cancelled, try again later', { cause })
}
