import { STATUS_BY_STATE } from '../../domain/billing/processor-snapshot.ts'
import { PaymentsError } from '../../domain/billing/payments-error.ts'
import { ServiceError } from '../../domain/shared/service-error.ts'
import type { User } from '../../domain/users/user.ts'
import type { Checkout, Payments } from '../../integrations/payments/payments.ts'
import { mapPaymentsError, requirePayments, toMinuteKey } from './payment-calls.ts'
import { syncNow } from './sync-now.ts'
import type { CommandContext } from '../context.ts'

/** The maximum number of rounds. Each sees the result of the previous one; two are enough without concurrent writes. */
const ROUNDS = 5

/**
 * Returns the page on which the user pays for Pro. There is one at a time: only a checkout named by the user's record is handed
 * out. So double clicks get the same page from every process, and no user pays twice.
 * @throws ServiceError ALREADY_SUBSCRIBED, PAYMENT_SESSION_FAILED
 */
export async function createCheckout(deps: CommandContext, userId: string): Promise<{ url: string }> {
  const payments = requirePayments(deps.payments)
  return mapPaymentsError(
    findOrOpen(deps, payments, userId),
    'PAYMENT_SESSION_FAILED',
    'Payment session creation failed',
  )
}

async function findOrOpen(deps: CommandContext, payments: Payments, userId: string): Promise<{ url: string }> {
  for (let round = 0; round < ROUNDS; round++) {
    const user = await deps.users.findById(userId)
    if (!user) throw new ServiceError('UNAUTHORIZED', 'Unauthorized')
    if (user.subscription.processorSubscriptionId !== null) throw alreadySubscribed()
    const { revision, checkoutId } = user.billing

    const last = checkoutId === null ? null : await payments.readCheckout(checkoutId)
    if (last?.status === 'open' && last.url !== null) return { url: last.url }
    if (last && (await isPaid(payments, last))) {
      // The webhook is late or lost.
      await syncNow(deps, userId)
      throw alreadySubscribed()
    }

    // The response may be a replay for a checkout that has since ended; the next round checks it.
    const { id } = await open(deps, payments, user)
    await deps.users.changeBilling(userId, revision, { 'billing.checkoutId': id })
  }
  throw new ServiceError('SERVICE_UNAVAILABLE', 'The account is busy. Try again in a moment.', { retryAfterSeconds: 2 })
}

async function open({ config, clock }: CommandContext, payments: Payments, user: User): Promise<{ id: string }> {
  const { _id: userId, email, subscription } = user
  const openFor = (customerId: string | null, kind: string) =>
    payments.openCheckout({
      userId,
      email,
      customerId,
      successUrl: `${config.FRONTEND_URL}/payment/success?session_id={CHECKOUT_SESSION_ID}`,
      cancelUrl: `${config.FRONTEND_URL}/payment/cancel`,
      idempotencyKey: toMinuteKey(`${kind}/${userId}/${user.billing.revision}`, clock.now()),
    })
  try {
    return await openFor(subscription.processorCustomerId, 'checkout')
  } catch (error) {
    // The customer was removed at the processor, so the user becomes a new one.
    const isUnknown = error instanceof PaymentsError && error.reason === 'resource_missing'
    if (!isUnknown || subscription.processorCustomerId === null) throw error
    return openFor(null, 'checkout-anew')
  }
}

async function isPaid(payments: Payments, { status, subscriptionId }: Checkout): Promise<boolean> {
  if (status !== 'complete' || subscriptionId === null) return false
  const subscription = await payments.readSubscription(subscriptionId)
  return subscription !== null && STATUS_BY_STATE[subscription.state] !== 'cancelled'
}

function alreadySubscribed(): ServiceError {
  return new ServiceError('ALREADY_SUBSCRIBED', 'You already have a subscription')
}
