import type { Context } from '../../context.ts'
import { getBilling, STANDING_BY_STATE } from '../../domain/billing/processor-snapshot.ts'
import { PaymentsError } from '../../domain/billing/payments-error.ts'
import { ServiceError } from '../../domain/shared/service-error.ts'
import type { User } from '../../domain/users/user.ts'
import type { Checkout, Payments } from '../../integrations/payments/payments.ts'
import { catchUp, keyOfMinute, orElse, setUp } from './payment-calls.ts'

/** Each round finds what the one before has left, so more are only needed where others write in between. */
const ROUNDS = 5

type Deps = Pick<Context, 'users' | 'payments' | 'syncSubscription' | 'config' | 'clock' | 'logger'>

/**
 * The page on which the user pays for Pro. There is one at a time: the record names it, and only what the record names is handed out, so
 * that double clicks get the same one whichever process they reach, and nobody pays twice.
 * @throws ServiceError ALREADY_SUBSCRIBED, PAYMENT_SESSION_FAILED
 */
export async function createCheckout(deps: Deps, userId: string): Promise<{ url: string }> {
  const payments = setUp(deps.payments)
  return orElse(findOrOpen(deps, payments, userId), 'PAYMENT_SESSION_FAILED', 'Payment session creation failed')
}

async function findOrOpen(deps: Deps, payments: Payments, userId: string): Promise<{ url: string }> {
  for (let round = 0; round < ROUNDS; round++) {
    const user = await deps.users.findById(userId)
    if (!user) throw new ServiceError('UNAUTHORIZED', 'Unauthorized')
    if (user.subscription.processorSubscriptionId !== null) throw alreadySubscribed()
    const { revision, checkoutId } = getBilling(user)

    const last = checkoutId === null ? null : await payments.readCheckout(checkoutId)
    if (last?.status === 'open' && last.url !== null) return { url: last.url }
    if (last && (await isPaid(payments, last))) {
      // The webhook is late or lost.
      await catchUp(deps, userId)
      throw alreadySubscribed()
    }

    // What the processor answers may be a repetition, of a session that has ended since: it is looked at by the next round.
    const { id } = await open(deps, payments, user)
    await deps.users.changeBilling(userId, revision, { 'billing.checkoutId': id })
  }
  throw new ServiceError('SERVICE_UNAVAILABLE', 'The account is busy, try again', { retryAfterSeconds: 2 })
}

async function open({ config, clock }: Deps, payments: Payments, user: User): Promise<{ id: string }> {
  const { _id: userId, email, subscription } = user
  const openFor = (customerId: string | null, what: string) =>
    payments.openCheckout({
      userId,
      email,
      customerId,
      successUrl: `${config.FRONTEND_URL}/payment/success?session_id={CHECKOUT_SESSION_ID}`,
      cancelUrl: `${config.FRONTEND_URL}/payment/cancel`,
      idempotencyKey: keyOfMinute(`${what}/${userId}/${getBilling(user).revision}`, clock.now()),
    })
  try {
    return await openFor(subscription.processorCustomerId, 'checkout')
  } catch (error) {
    // Somebody removed the customer there: who comes back is a new one.
    const isUnknown = error instanceof PaymentsError && error.reason === 'resource_missing'
    if (!isUnknown || subscription.processorCustomerId === null) throw error
    return openFor(null, 'checkout-anew')
  }
}

async function isPaid(payments: Payments, { status, subscriptionId }: Checkout): Promise<boolean> {
  if (status !== 'complete' || subscriptionId === null) return false
  const subscription = await payments.readSubscription(subscriptionId)
  return subscription !== null && STANDING_BY_STATE[subscription.state] !== 'cancelled'
}

function alreadySubscribed(): ServiceError {
  return new ServiceError('ALREADY_SUBSCRIBED', 'You already have a subscription')
}
