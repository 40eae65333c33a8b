import { activityInfo, heartbeat, log } from '@temporalio/activity'
import type { Post } from '../../domain/posts/post.ts'
import { SECOND } from '../../domain/shared/times.ts'
import type { Context } from '../../context.ts'

const CONCURRENT_STARTS = 50
/** Thousands of new workflows keep Temporal busy. A repeated start costs more than a late one, so the deadline is long. */
const START_DEADLINE_MS = 10 * SECOND

interface Progress {
  /** `dueAt` of the last started post in epoch milliseconds; null at the beginning. */
  dueFrom: number | null
  restarted: number
}

export function createRestartPostsActivities({ posts, orchestrator }: Context) {
  return {
    /**
     * Starts the workflow of every open post, the next due first. A running workflow is left alone. An attempt continues where the
     * attempt before it ended.
     * @throws when Temporal does not acknowledge a start
     */
    async restartPosts(): Promise<{ restarted: number }> {
      const progress = (activityInfo().heartbeatDetails as Progress | undefined) ?? { dueFrom: null, restarted: 0 }
      let batch: Post[] = []

      async function startBatch(): Promise<void> {
        const acknowledged = await Promise.all(
          batch.map((post) => orchestrator.start(post, { deadlineMs: START_DEADLINE_MS })),
        )
        if (acknowledged.includes(false)) throw new Error('Temporal did not acknowledge every start')
        progress.dueFrom = batch.at(-1)?.dueAt?.getTime() ?? progress.dueFrom
        progress.restarted += batch.length
        batch = []
        heartbeat(progress)
      }

      for await (const post of posts.streamOpenPosts(progress.dueFrom === null ? null : new Date(progress.dueFrom))) {
        batch.push(post)
        if (batch.length === CONCURRENT_STARTS) await startBatch()
      }
      await startBatch()
      log.info('open posts restarted', { restarted: progress.restarted })
      return { restarted: progress.restarted }
    },
  }
}
