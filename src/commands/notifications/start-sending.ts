import { createFairLimit } from '../../flow/fair-limit.ts'
import type { PublishOrchestrator } from '../../integrations/temporal/orchestrator.ts'
import type { Logger } from '../../logger.ts'
import type { NotificationRecord } from '../../store/notifications/notifications.ts'
import type { PushStore } from '../../store/notifications/pushes.ts'
import { startMail } from './queue-mail.ts'

/** A burst of posts does not compete with as many pushes for Temporal. */
const CONCURRENT_STARTS = 20
/** Shown to operators in the Temporal UI. */
const PUSH_SUMMARY = "Push a notification to its user's devices"

interface StartSendingDeps {
  orchestrator: PublishOrchestrator
  logger: Logger
}

/**
 * Starts the pushes and mails of stored notifications in the background; users take turns. The sweeper starts those that Temporal
 * did not acknowledge.
 */
export function createStartSending({ orchestrator, logger }: StartSendingDeps) {
  const takeTurn = createFairLimit({ maxRunning: CONCURRENT_STARTS })

  return (records: NotificationRecord[]): void => {
    for (const { notification, mail } of records) {
      const { _id, userId, push } = notification
      const start = (run: () => Promise<unknown>) =>
        takeTurn(userId, run).catch((err: unknown) =>
          logger.warn({ err, notificationId: _id }, 'start of a push or mail not recorded'),
        )
      if (push.state === 'waiting') {
        const options = { summary: PUSH_SUMMARY, fairnessKey: userId }
        void start(() => orchestrator.startWork('deliverPush', _id, options))
      }
      if (mail) void start(() => startMail(orchestrator, mail))
    }
  }
}

/** Pushes that no workflow has started, for the sweeper. */
export function pushBacklog({ pushes }: { pushes: PushStore }) {
  return { work: 'deliverPush' as const, summary: PUSH_SUMMARY, listUnstarted: pushes.listUnstarted }
}
