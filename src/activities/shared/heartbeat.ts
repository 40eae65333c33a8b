import { activityInfo, heartbeat } from '@temporalio/activity'
import { SECOND } from '../../domain/shared/times.ts'

const HEARTBEAT_INTERVAL_MS = SECOND
/** A worker that is lost while it waits for an instant is noticed this long after the instant. */
const NOTICED_AFTER_MS = 5 * SECOND

interface Heartbeat<T> {
  /** Heartbeats immediately, and keeps these details for the heartbeats that follow. */
  update(details: T): void
  /** Heartbeats rarely until this instant, if the heartbeat timeout is long. */
  waitUntil(instant: Date): void
}

/**
 * Runs `work` and heartbeats on a timer meanwhile, so that Temporal notices a killed worker. Every heartbeat carries the latest
 * details, because one without details would erase them.
 */
export async function withHeartbeat<T, R>(details: T, work: (heartbeat: Heartbeat<T>) => Promise<R>): Promise<R> {
  const timeoutMs = activityInfo().heartbeatTimeoutMs ?? 0
  let latest = details
  let isDue = (): boolean => true
  const timer = setInterval(() => {
    if (isDue()) heartbeat(latest)
  }, HEARTBEAT_INTERVAL_MS)
  try {
    return await work({
      update(next) {
        latest = next
        heartbeat(latest)
      },
      waitUntil(instant) {
        isDue = createRareHeartbeat(instant, timeoutMs)
      },
    })
  } finally {
    clearInterval(timer)
  }
}

/**
 * Returns whether it is time for a heartbeat. The last one before `instant` comes so long before it that the timeout ends shortly after
 * it. A heartbeat at the instant itself would extend the timeout, so none comes until the timeout is about to end.
 */
export function createRareHeartbeat(instant: Date, timeoutMs: number, now: () => number = Date.now): () => boolean {
  const periodMs = timeoutMs - NOTICED_AFTER_MS
  if (periodMs < NOTICED_AFTER_MS) return () => true
  const periodsLeft = () => Math.ceil((instant.getTime() - now()) / periodMs)
  let last = periodsLeft()
  return () => {
    if (now() >= instant.getTime() + NOTICED_AFTER_MS - 2 * HEARTBEAT_INTERVAL_MS) return true
    const left = periodsLeft()
    const hasPassed = left < last && left > 0
    last = left
    return hasPassed
  }
}
