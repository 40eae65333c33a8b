import type { Context } from '../context.ts'
import type { DeliveryResult } from '../workflows/contract/publishing.ts'
import type { RunningWork } from './shared/running-work.ts'

/** The parts of the process, and the settings of its worker. */
export interface WorkerContext extends Context {
  /** Deliveries that outlive their activity. */
  running: RunningWork<DeliveryResult>
  /** Deadline of a visible call, milliseconds. */
  publishTimeoutMs: number
  /** How long an unanswered call may still take effect on a platform that does not detect repeats, milliseconds. */
  unansweredSettleMs: number
  maxLatenessMs: number
  /** Concurrent calls to one platform server, before the number adapts to it. */
  callsInFlight: number
  /** Number of deliveries that this worker can hold. */
  activitySlots: number
  /** Number of preparations that this worker can run. */
  preparationSlots: number
  /** Number of mails and pushes that this worker can send concurrently. */
  notificationSlots: number
  /** Number of webhooks that this worker can deliver to concurrently. */
  webhookSlots: number
}
