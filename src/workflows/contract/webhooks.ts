import { defineSignal } from '@temporalio/workflow'

export const WAKE_SIGNAL = 'wake'

/** Makes the workflow `deliverWebhooks` read the events and deliveries of its webhook again. */
export const wakeSignal = defineSignal(WAKE_SIGNAL)

/** The result of a round of deliveries. */
export interface RoundResult {
  /** When the next round is due, epoch milliseconds; null when nothing is left to deliver. */
  nextAt: number | null
}
