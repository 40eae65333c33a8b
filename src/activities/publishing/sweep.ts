import { heartbeat, log } from '@temporalio/activity'
import type { Clock } from '../../clock.ts'
import { createdNotifications } from '../../commands/posts/post-created.ts'
import { checkUploads, type CheckUploadsDeps } from '../../commands/media/upload-quota.ts'
import type { Post } from '../../domain/posts/post.ts'
import { MINUTE, SECOND } from '../../domain/shared/times.ts'
import type { Finding, Metrics } from '../../telemetry/metrics.ts'
import type { PublishOrchestrator } from '../../integrations/temporal/orchestrator.ts'
import type { NotificationStore } from '../../store/notifications/notifications.ts'
import type { PostStore } from '../../store/posts/posts.ts'
import type { UserStore } from '../../store/users/users.ts'
import { backgroundWorkflowId, publishPostWorkflowId, type BackgroundWork } from '../../workflows/messages.ts'

const OVERDUE_AFTER_MS = 30 * SECOND
const STALLED_AFTER_MS = 5 * MINUTE
/** Overdue for longer than this although its workflow was started: the workflow may be stuck. */
const CHECKED_AFTER_MS = MINUTE
const MOST_PER_RUN = 2_000
const MOST_LEFTOVERS_PER_RUN = 100
const STARTS_AT_ONCE = 20
const UPLOADS_PER_RUN = 200

/** Records that ask for work in the background, and may have got none because of a crash or an outage. */
export interface Backlog {
  work: BackgroundWork
  /** For operators, in the Temporal UI. */
  summary: string
  /** Those stored before this instant that no workflow has taken up, oldest first. */
  listUnstarted(before: Date, limit: number): Promise<{ id: string; userId: string }[]>
}

export interface SweepDeps extends CheckUploadsDeps {
  backlogs: Backlog[]
  posts: PostStore
  notifications: Pick<NotificationStore, 'insertOnce'>
  users: Pick<UserStore, 'findTimezones'>
  orchestrator: Pick<PublishOrchestrator, 'start' | 'signal' | 'startWork' | 'terminateStuck' | 'listOverdue'>
  clock: Clock
  metrics: Pick<Metrics, 'swept' | 'tookUp'>
}

/**
 * Repairs what a crash between a write and a workflow start, or a terminated workflow, left behind. A workflow that cannot go on is
 * terminated and started anew.
 */
export function createSweepActivities(deps: SweepDeps) {
  const { posts, notifications, orchestrator, backlogs, clock, metrics } = deps

  async function takeUpWork({ work, summary, listUnstarted }: Backlog): Promise<number> {
    const before = new Date(clock.now().getTime() - OVERDUE_AFTER_MS)
    const unstarted = await listUnstarted(before, MOST_PER_RUN)
    let takenUp = 0
    for (let first = 0; first < unstarted.length; first += STARTS_AT_ONCE) {
      const started = await Promise.all(
        unstarted.slice(first, first + STARTS_AT_ONCE).map(async ({ id, userId }) => {
          await orchestrator.terminateStuck(backgroundWorkflowId(work, id))
          return orchestrator.startWork(work, id, { summary, fairnessKey: userId })
        }),
      )
      takenUp += started.filter(Boolean).length
      heartbeat(takenUp)
    }
    metrics.tookUp(work, takenUp)
    if (takenUp > 0) log.info('Took up work that nobody had begun', { work, takenUp })
    return takenUp
  }

  async function takeUpPosts(): Promise<number> {
    const now = clock.now()
    const stranded = await posts.listStranded({
      overdueBefore: new Date(now.getTime() - OVERDUE_AFTER_MS),
      stalledBefore: new Date(now.getTime() - STALLED_AFTER_MS),
      now,
      limit: MOST_PER_RUN,
    })
    let takenUp = 0
    // guard: sweep
    for (let first = 0; first < stranded.length; first += STARTS_AT_ONCE) {
      const started = await Promise.all(
        stranded.slice(first, first + STARTS_AT_ONCE).map(async (post) => {
          // A draft that was just being published when the process died: its owner was not told either.
          if (post.startPending) {
            for (const created of await createdNotifications(deps, [post])) await notifications.insertOnce(created)
          }
          if (isLongOverdue(post, now)) await orchestrator.terminateStuck(publishPostWorkflowId(post._id))
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
    return takenUp
  }

  /** A workflow may be stuck although its post has ended or was cancelled. The next sweep starts a post that is still open. */
  async function terminateLeftovers(): Promise<void> {
    const dueBefore = new Date(clock.now().getTime() - CHECKED_AFTER_MS)
    const overdue = await orchestrator.listOverdue(dueBefore, MOST_LEFTOVERS_PER_RUN)
    await Promise.all(overdue.map((workflowId) => orchestrator.terminateStuck(workflowId)))
  }

  return {
    /** Posts first: of all that may have been left, only they have an instant to keep. */
    async sweepDeliveries(): Promise<{ takenUp: number }> {
      let takenUp = await takeUpPosts()
      for (const backlog of backlogs) takenUp += await takeUpWork(backlog)
      await terminateLeftovers()
      await checkUploads(deps, UPLOADS_PER_RUN).catch((error: unknown) =>
        log.warn('uploads could not be checked', { error }),
      )
      return { takenUp }
    },
  }
}

function isLongOverdue({ dueAt }: Post, now: Date): boolean {
  return dueAt !== null && now.getTime() - dueAt.getTime() > CHECKED_AFTER_MS
}

function findingOf({ startPending, status }: Post): Finding {
  if (startPending) return 'untold'
  return status === 'PROCESSING' ? 'stalled' : 'overdue'
}
