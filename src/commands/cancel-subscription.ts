import type { Context } from '../context.ts'
import { billingOf } from '../domain/billing-look.ts'
import { ServiceError } from '../domain/service-error.ts'
import { catchUp, keyOfMinute, orElse, setUp } from './payment-calls.ts'

const UNAVAILABLE = ['PAYMENTS_UNAVAILABLE', 'The subscription could not be cancelled, try again later'] as const

type Deps = Pick<Context, 'users' | 'payments' | 'syncSubscription' | 'clock' | 'logger'>

/**
 * Ends the subscription with the period that is paid for. When this resolves the processor has it so, and mostly the record as well.
 * @throws ServiceError NO_ACTIVE_SUBSCRIPTION, NO_SUBSCRIPTION_ID, ALREADY_CANCELLING; PAYMENTS_UNAVAILABLE, and then nothing is changed
 */
export async function cancelSubscription(deps: Deps, userId: string): Promise<void> {
  const { users, clock } = deps
  const user = await users.findById(userId)
  if (user?.subscription.plan !== 'pro') {
    throw new ServiceError('NO_ACTIVE_SUBSCRIPTION', 'No active Pro subscription to cancel')
  }
  const { processorSubscriptionId: subscriptionId, cancelAtPeriodEnd } = user.subscription
  if (subscriptionId === null) throw new ServiceError('NO_SUBSCRIPTION_ID', 'No Stripe subscription ID found')
  if (cancelAtPeriodEnd) {
    throw new ServiceError('ALREADY_CANCELLING', 'Subscription is already scheduled for cancellation')
  }

  // With the revision: who resumed meanwhile on the processor's pages, and cancels again, does not repeat the first call.
  const { revision } = billingOf(user)
  const key = keyOfMinute(`cancel/${subscriptionId}/${revision}`, clock.now())
  await orElse(setUp(deps.payments).cancelAtPeriodEnd(subscriptionId, key), ...UNAVAILABLE)
  if (!(await catchUp(deps, userId))) return

  // The processor may have repeated an earlier answer: what counts is how it stands now.
  const now = (await users.findById(userId))?.subscription
  if (now?.processorSubscriptionId === subscriptionId && !now.cancelAtPeriodEnd) throw new ServiceError(...UNAVAILABLE)
}
