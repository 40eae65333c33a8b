import { PaymentsError } from '../../domain/billing/payments-error.ts'
import { ServiceError } from '../../domain/shared/service-error.ts'
import type { User } from '../../domain/users/user.ts'
import { requirePayments, toMinuteKey } from './payment-calls.ts'
import { syncNow } from './sync-now.ts'
import type { CommandContext } from '../context.ts'

/**
 * Cancels the subscription at the end of the paid period. When this resolves, the processor has the cancellation, and usually
 * the user's record does, too.
 * @throws ServiceError NO_ACTIVE_SUBSCRIPTION, NO_SUBSCRIPTION_ID, ALREADY_CANCELLING; PAYMENTS_UNAVAILABLE, and then nothing
 * is changed
 */
export async function cancelSubscription(deps: CommandContext, userId: string): Promise<void> {
  const { users, clock } = deps
  const { subscriptionId, revision } = requireCancellable(await users.findById(userId))
  const payments = requirePayments(deps.payments)
  // The revision makes the key new for a user who resumed on the processor's pages and cancels again.
  const key = toMinuteKey(`cancel/${subscriptionId}/${revision}`, clock.now())
  try {
    await payments.cancelAtPeriodEnd(subscriptionId, key)
  } catch (error) {
    if (!(error instanceof PaymentsError)) throw error
    // The subscription may have ended at the processor while its webhook is still on the way.
    if (error.isRefused && (await syncNow(deps, userId))) requireCancellable(await users.findById(userId))
    throw unavailable(error)
  }
  if (!(await syncNow(deps, userId))) return

  // The processor may have replayed an earlier response, so the current state decides.
  const now = (await users.findById(userId))?.subscription
  if (now?.processorSubscriptionId === subscriptionId && !now.cancelAtPeriodEnd) throw unavailable()
}

/** Returns the subscription to cancel. The order of the checks decides which error a client gets. */
function requireCancellable(user: User | null): { subscriptionId: string; revision: number } {
  if (user?.subscription.plan !== 'pro') {
    throw new ServiceError('NO_ACTIVE_SUBSCRIPTION', 'No active Pro subscription to cancel')
  }
  const { processorSubscriptionId, cancelAtPeriodEnd } = user.subscription
  if (processorSubscriptionId === null) throw new ServiceError('NO_SUBSCRIPTION_ID', 'No Stripe subscription ID found')
  if (cancelAtPeriodEnd) {
    throw new ServiceError('ALREADY_CANCELLING', 'Subscription is already scheduled for cancellation')
  }
  return { subscriptionId: processorSubscriptionId, revision: user.billing.revision }
}

function unavailable(cause?: PaymentsError): ServiceError {
  return new ServiceError('PAYMENTS_UNAVAILABLE', 'The subscription could not be cancelled. Try again later.', {
    cause,
  })
}
