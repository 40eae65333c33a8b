import type { Clock } from '../../clock.ts'

/** Longer than the work behind an answer takes on a quiet machine. */
const STEP_MS = 50

/**
 * Waits for the next of the steps that follow each other from the beginning of a request. An answer that leaves only then
 * tells nothing by the time it took, such as whether an address is known here.
 */
export async function constantTimeDelay(clock: Clock, begin: Date): Promise<void> {
  const steps = Math.floor((clock.now().getTime() - begin.getTime()) / STEP_MS) + 1
  await clock.sleepUntil(new Date(begin.getTime() + steps * STEP_MS))
}
