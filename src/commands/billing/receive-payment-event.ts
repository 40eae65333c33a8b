import { setTimeout as delay } from 'node:timers/promises'
import type { Context } from '../../context.ts'
import { isPaymentEventType, type PaymentEvent } from '../../domain/billing/payment-events.ts'
import { SECOND } from '../../domain/shared/times.ts'
import { findPaymentOwner } from './payment-owner.ts'

/** The processor waits for its acknowledgment; Temporal mostly answers within some milliseconds. */
const PATIENCE_MS = SECOND / 4

type Deps = Pick<Context, 'paymentEvents' | 'users' | 'erasures' | 'orchestrator' | 'clock' | 'logger'>

/**
 * Stores a signed event, and has it acted on in the background. Once it is stored it need not be sent again: what Temporal does not hear
 * of, the sweeper finds. The processor is asked nothing here, so that it gets its acknowledgment in whatever state it is.
 */
export async function receivePaymentEvent(deps: Deps, event: PaymentEvent): Promise<void> {
  const { paymentEvents, clock, logger } = deps
  const { id: eventId, type } = event
  const state = await paymentEvents.insertOrRead(event, clock.now())
  if (state !== 'waiting') return

  if (!isPaymentEventType(type)) {
    await paymentEvents.markProcessed(eventId, 'ignored', clock.now())
    logger.info({ eventId, type }, 'a payment event of a type that means nothing here was ignored')
    return
  }
  // As far as it is known here; else somebody who has the time asks the processor.
  const userId = await findPaymentOwner(deps, event)
  if (userId !== null && userId !== event.userId) await paymentEvents.setUser(eventId, userId)
  await Promise.race([pass(deps, event, userId), delay(PATIENCE_MS, undefined, { ref: false })])
}

function pass({ orchestrator }: Deps, { id: eventId, type }: PaymentEvent, userId: string | null): Promise<boolean> {
  if (userId !== null) return orchestrator.notifySubscription(userId, { eventId, type })
  return orchestrator.startWork('routePaymentEvent', eventId, { summary: type, fairnessKey: eventId })
}
