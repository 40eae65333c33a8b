import { createFairLimit } from '../../flow/fair-limit.ts'
import type { PublishOrchestrator } from '../../integrations/temporal/orchestrator.ts'
import type { Logger } from '../../logger.ts'
import type { Notification } from '../../store/notifications/notifications.ts'
import type { PushStore } from '../../store/notifications/pushes.ts'

/** A burst of posts does not compete with as many pushes for Temporal. */
const CONCURRENT_STARTS = 20
/** Shown to operators in the Temporal UI. */
const PUSH_SUMMARY = "Push a notification to its user's devices"

interface BeginPushesDeps {
  orchestrator: PublishOrchestrator
  logger: Logger
}

/**
 * Starts the pushes of stored notifications in the background; users take turns. The sweeper starts those that Temporal did not
 * acknowledge.
 */
export function createStartPushes({ orchestrator, logger }: BeginPushesDeps) {
  const takeTurn = createFairLimit({ maxRunning: CONCURRENT_STARTS })

  return (notifications: Pick<Notification, '_id' | 'userId'>[]): void => {
    for (const { _id, userId } of notifications) {
      const options = { summary: PUSH_SUMMARY, fairnessKey: userId }
      takeTurn(userId, () => orchestrator.startWork('deliverPush', _id, options)).catch((error: unknown) =>
        logger.warn({ err: error, notificationId: _id }, 'push start not recorded'),
      )
    }
  }
}

/** Pushes that no workflow has started, for the sweeper. */
export function pushBacklog({ pushes }: { pushes: PushStore }) {
  return { work: 'deliverPush' as const, summary: PUSH_SUMMARY, listUnstarted: pushes.listUnstarted }
}
