import type { PublishOrchestrator } from '../../integrations/temporal/orchestrator.ts'
import type { Logger } from '../../logger.ts'
import { batcher } from '../../store/shared/batching.ts'
import type { Notification } from '../../store/notifications/notifications.ts'
import type { PushStore } from '../../store/notifications/pushes.ts'

/** Bounds concurrent starts, so that a burst of posts does not compete with as many pushes for Temporal. */
const MAX_BATCH = 20
/** Shown to operators in the Temporal UI. */
const PUSH_SUMMARY = "Push a notification to its user's devices"

interface BeginPushesDeps {
  orchestrator: Pick<PublishOrchestrator, 'startWork'>
  logger: Pick<Logger, 'warn'>
}

/** Starts the pushes of stored notifications in the background. The sweeper starts those that Temporal did not acknowledge. */
export function createStartPushes({ orchestrator, logger }: BeginPushesDeps) {
  const begin = batcher<void, Notification>(async (group, settle) => {
    await Promise.all(
      group.map(async ({ _id, userId }, index) => {
        await orchestrator.startWork('deliverPush', _id, { summary: PUSH_SUMMARY, fairnessKey: userId })
        settle(index, undefined)
      }),
    )
  }, MAX_BATCH)

  return (notifications: Notification[]): void => {
    for (const notification of notifications) {
      begin(notification).catch((error: unknown) =>
        logger.warn({ err: error, notificationId: notification._id }, 'push start not recorded'),
      )
    }
  }
}

/** Pushes that no workflow has started, for the sweeper. */
export function pushBacklog({ pushes }: { pushes: Pick<PushStore, 'listUnstarted'> }) {
  return { work: 'deliverPush' as const, summary: PUSH_SUMMARY, listUnstarted: pushes.listUnstarted }
}
