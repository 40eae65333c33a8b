import { defineSignal } from '@temporalio/workflow'

export const WAKE_SIGNAL = 'wake'

/** Makes a workflow that runs rounds begin the next one, because there may be more to do. */
export const wakeSignal = defineSignal(WAKE_SIGNAL)

export interface RoundResult {
  /** When the next round is due, epoch milliseconds; null when nothing is left. */
  nextAt: number | null
}
