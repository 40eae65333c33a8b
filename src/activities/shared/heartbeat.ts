import { ApplicationFailure, heartbeat } from '@temporalio/activity'
import { ApplicationFailureCategory } from '@temporalio/common'
import { SECOND } from '../../domain/shared/times.ts'

const HEARTBEAT_EVERY_MS = SECOND

/** Expected: shows in the UI as an attempt that waits, without alarm; without `waitMs` for as long as the workflow's own rule says. */
export function waiting(why: string, waitMs?: number): ApplicationFailure {
  return ApplicationFailure.create({
    type: 'Waiting',
    message: why,
    ...(waitMs !== undefined && { nextRetryDelay: waitMs }),
    category: ApplicationFailureCategory.BENIGN,
  })
}

/** Heartbeats on a timer, each with the latest details: a heartbeat without them would forget them. */
export function keepAlive<T>(details: T) {
  let latest = details
  const timer = setInterval(() => heartbeat(latest), HEARTBEAT_EVERY_MS)
  return {
    details,
    tell(next: T): void {
      latest = next
      heartbeat(latest)
    },
    stop: () => clearInterval(timer),
  }
}
