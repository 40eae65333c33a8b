import { heartbeat } from '@temporalio/activity'
import { SECOND } from '../../domain/shared/times.ts'

const HEARTBEAT_INTERVAL_MS = SECOND

interface Heartbeat<T> {
  /** Heartbeats immediately, and keeps these details for the heartbeats that follow. */
  update(details: T): void
}

/**
 * Runs `work` and heartbeats on a timer meanwhile, so that Temporal notices a killed worker. Every heartbeat carries the latest
 * details, because one without details would erase them.
 */
export async function withHeartbeat<T, R>(details: T, work: (heartbeat: Heartbeat<T>) => Promise<R>): Promise<R> {
  let latest = details
  const timer = setInterval(() => heartbeat(latest), HEARTBEAT_INTERVAL_MS)
  try {
    return await work({
      update(next) {
        latest = next
        heartbeat(latest)
      },
    })
  } finally {
    clearInterval(timer)
  }
}
