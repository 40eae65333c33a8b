import { heartbeat, log } from '@temporalio/activity'
import type { Clock } from '../clock.ts'
import { postCreated } from '../domain/notifications.ts'
import type { Post } from '../domain/post.ts'
import { MINUTE, SECOND } from '../domain/times.ts'
import type { Finding, Metrics } from '../integrations/metrics.ts'
import type { PublishOrchestrator } from '../integrations/orchestrator.ts'
import type { NotificationStore } from '../store/notifications.ts'
import type { PostStore } from '../store/posts.ts'

const OVERDUE_AFTER_MS = 30 * SECOND
const STALLED_AFTER_MS = 5 * MINUTE
const MOST_PER_RUN = 2_000
const STARTS_AT_ONCE = 20

export interface SweepDeps {
  posts: PostStore
  notifications: Pick<NotificationStore, 'insertOnce'>
  orchestrator: Pick<PublishOrchestrator, 'start' | 'signal'>
  clock: Clock
  metrics: Pick<Metrics, 'swept'>
}

/** Repairs what a crash between a write and a workflow start, or a terminated workflow, left behind. */
export function createSweepActivities({ posts, notifications, orchestrator, clock, metrics }: SweepDeps) {
  return {
    async sweepDeliveries(): Promise<{ takenUp: number }> {
      const now = clock.now()
      const stranded = await posts.listStranded({
        overdueBefore: new Date(now.getTime() - OVERDUE_AFTER_MS),
        stalledBefore: new Date(now.getTime() - STALLED_AFTER_MS),
        now,
        limit: MOST_PER_RUN,
      })
      let takenUp = 0
      for (let first = 0; first < stranded.length; first += STARTS_AT_ONCE) {
        const started = await Promise.all(
          stranded.slice(first, first + STARTS_AT_ONCE).map(async (post) => {
            // A draft that was just being published when the process died: its owner was not told either.
            if (post.startPending) await notifications.insertOnce(postCreated(post))
            // A workflow that runs already knows nothing of a change whose signal was lost: joining it is not enough.
            const acknowledged = await (post.startPending
              ? orchestrator.signal(post, 'changed')
              : orchestrator.start(post))
            if (acknowledged && post.startPending) await posts.acknowledgeStart(post)
            return acknowledged
          }),
        )
        takenUp += started.filter(Boolean).length
        heartbeat(takenUp)
      }
      metrics.swept(stranded.map(findingOf))
      if (takenUp > 0) log.info('Took up deliveries that nobody moved on', { takenUp })
      return { takenUp }
    },
  }
}

function findingOf({ startPending, status }: Post): Finding {
  if (startPending) return 'untold'
  return status === 'PROCESSING' ? 'stalled' : 'overdue'
}
