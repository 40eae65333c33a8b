import type { Clock } from '../../clock.ts'

/** Longer than the work for a response takes on an idle machine. */
const STEP_MS = 50

/**
 * Waits for the next full step since the beginning of a request. The response time then reveals nothing, such as whether an
 * address is known.
 */
export async function constantTimeDelay(clock: Clock, begin: Date): Promise<void> {
  const steps = Math.floor((clock.now().getTime() - begin.getTime()) / STEP_MS) + 1
  await clock.sleepUntil(new Date(begin.getTime() + steps * STEP_MS))
}
