import { setTimeout as delay } from 'node:timers/promises'
import { isPaymentEventType, type PaymentEvent } from '../../domain/billing/payment-events.ts'
import { SECOND } from '../../domain/shared/times.ts'
import { findPaymentOwner } from './payment-owner.ts'
import type { CommandContext } from '../context.ts'

/** The processor waits for its acknowledgment; Temporal usually answers within milliseconds. */
const MAX_WAIT_MS = SECOND / 4

/**
 * Stores a signed event and starts its processing in the background. Once stored, it need not be sent again: the sweeper finds
 * what Temporal did not acknowledge. The processor is not called here, so it always gets its acknowledgment.
 */
export async function receivePaymentEvent(deps: CommandContext, event: PaymentEvent): Promise<void> {
  const { paymentEvents, clock, logger } = deps
  const { id: eventId, type } = event
  const state = await paymentEvents.insertOrRead(event, clock.now())
  if (state !== 'waiting') return

  if (!isPaymentEventType(type)) {
    await paymentEvents.markProcessed(eventId, 'ignored', clock.now())
    logger.info({ eventId, type }, 'payment event ignored')
    return
  }
  // If the owner is not known here, a workflow asks the processor.
  const userId = await findPaymentOwner(deps, event)
  if (userId !== null && userId !== event.userId) await paymentEvents.setUser(eventId, userId)
  await Promise.race([startProcessing(deps, event, userId), delay(MAX_WAIT_MS, undefined, { ref: false })])
}

function startProcessing(
  { orchestrator }: CommandContext,
  { id: eventId, type }: PaymentEvent,
  userId: string | null,
): Promise<boolean> {
  if (userId !== null) return orchestrator.notifySubscription(userId, { eventId, type })
  return orchestrator.startWork('routePaymentEvent', eventId, { summary: type, fairnessKey: eventId })
}
