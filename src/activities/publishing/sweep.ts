import { heartbeat, log } from '@temporalio/activity'
import type { BackgroundBacklog } from '../../commands/shared/background-backlog.ts'
import { buildCreatedNotifications } from '../../commands/posts/post-created.ts'
import { checkUploads } from '../../commands/media/upload-quota.ts'
import type { Post } from '../../domain/posts/post.ts'
import { createFairLimit } from '../../flow/fair-limit.ts'
import { MINUTE, SECOND } from '../../domain/shared/times.ts'
import type { SweepFinding } from '../../telemetry/metrics.ts'
import { allSettledOrThrow } from '../shared/all-settled.ts'
import { backgroundWorkflowId } from '../../workflows/contract/background-work.ts'
import { publishPostWorkflowId } from '../../workflows/contract/publishing.ts'
import type { Context } from '../../context.ts'

const OVERDUE_AFTER_MS = 30 * SECOND
const STALLED_AFTER_MS = 5 * MINUTE
/** A workflow whose post is overdue for longer than this may be stuck. */
const STUCK_AFTER_MS = MINUTE
const MAX_PER_RUN = 2_000
const MAX_LEFTOVERS_PER_RUN = 100
const CONCURRENT_STARTS = 20
const UPLOADS_PER_RUN = 200
/** Processes relay their own events within a second. */
const UNRELAYED_AFTER_MS = 10 * SECOND

/**
 * Starts the workflows that a crash between a write and a start, or a terminated workflow, left out. A stuck workflow is terminated and
 * started again.
 */
export function createSweepActivities(deps: Context) {
  const { posts, notifications, orchestrator, backlogs, clock, metrics } = deps

  /**
   * Starts the work of records; their users take turns, so that one with thousands of them does not delay the others.
   * @param start returns whether Temporal acknowledged
   * @returns the number of acknowledged starts
   * @throws the first error of `start`; no further record is started then
   */
  async function startInTurns<T extends { userId: string }>(
    records: T[],
    start: (record: T) => Promise<boolean>,
  ): Promise<number> {
    const takeTurn = createFairLimit({ maxRunning: CONCURRENT_STARTS })
    const failed = new AbortController()
    let acknowledged = 0
    await allSettledOrThrow(
      records.map((record) =>
        takeTurn(
          record.userId,
          async () => {
            try {
              if (await start(record)) acknowledged += 1
            } catch (error) {
              failed.abort(error)
              throw error
            }
            heartbeat(acknowledged)
          },
          { signal: failed.signal },
        ),
      ),
    )
    return acknowledged
  }

  async function claimBacklog({ work, summary, listUnstarted }: BackgroundBacklog): Promise<number> {
    const before = new Date(clock.now().getTime() - OVERDUE_AFTER_MS)
    const unstarted = await listUnstarted(before, MAX_PER_RUN)
    const restarted = await startInTurns(unstarted, async ({ id, userId }) => {
      await orchestrator.terminateStuck(backgroundWorkflowId(work, id))
      return orchestrator.startWork(work, id, { summary, fairnessKey: userId })
    })
    metrics.backlogClaimed(work, restarted)
    if (restarted > 0) log.info('backlog claimed', { work, restarted })
    return restarted
  }

  async function claimStrandedPosts(): Promise<number> {
    const now = clock.now()
    const stranded = await posts.listStranded({
      overdueBefore: new Date(now.getTime() - OVERDUE_AFTER_MS),
      stalledBefore: new Date(now.getTime() - STALLED_AFTER_MS),
      now,
      limit: MAX_PER_RUN,
    })
    // guard: sweep
    const restarted = await startInTurns(stranded, async (post) => {
      // The process died while it published a draft, so its owner was not notified either.
      if (post.startPending) {
        for (const created of await buildCreatedNotifications(deps, [post])) await notifications.insertOnce(created)
      }
      if (isLongOverdue(post, now)) await orchestrator.terminateStuck(publishPostWorkflowId(post._id))
      // A running workflow missed the lost signal, so starting it again is not enough.
      const acknowledged = await (post.startPending ? orchestrator.signal(post, 'changed') : orchestrator.start(post))
      if (acknowledged && post.startPending) await posts.acknowledgeStart(post)
      return acknowledged
    })
    metrics.sweepEnded(stranded.map(toFinding))
    if (restarted > 0) log.info('stranded deliveries claimed', { restarted })
    return restarted
  }

  /** A process that was killed has left events with their posts. */
  async function relayEvents(): Promise<void> {
    const before = new Date(clock.now().getTime() - UNRELAYED_AFTER_MS)
    // guard: relay of events that a crash left
    const relayed = await deps.eventRelay.relayLeftOver(before, MAX_PER_RUN)
    if (relayed > 0) log.info('events relayed', { posts: relayed })
  }

  /** A workflow may be stuck although its post has ended or was cancelled. The next sweep restarts a post that is still open. */
  async function terminateLeftovers(): Promise<void> {
    const dueBefore = new Date(clock.now().getTime() - STUCK_AFTER_MS)
    const overdue = await orchestrator.listOverdue(dueBefore, MAX_LEFTOVERS_PER_RUN)
    await Promise.all(overdue.map((workflowId) => orchestrator.terminateStuck(workflowId)))
  }

  return {
    /** Posts come first, because no other backlog has a due time. */
    async sweepDeliveries(): Promise<{ restarted: number }> {
      let restarted = await claimStrandedPosts()
      for (const backlog of backlogs) restarted += await claimBacklog(backlog)
      await relayEvents().catch((error: unknown) => log.warn('relay of events failed', { error }))
      await terminateLeftovers()
      await checkUploads(deps, UPLOADS_PER_RUN).catch((error: unknown) => log.warn('upload check failed', { error }))
      return { restarted }
    },
  }
}

function isLongOverdue({ dueAt }: Post, now: Date): boolean {
  return dueAt !== null && now.getTime() - dueAt.getTime() > STUCK_AFTER_MS
}

function toFinding({ startPending, status }: Post): SweepFinding {
  if (startPending) return 'unacknowledged'
  return status === 'PROCESSING' ? 'stalled' : 'overdue'
}
