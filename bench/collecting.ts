import { setTimeout as delay } from 'node:timers/promises'
import { Connection, ScheduleClient, WorkflowClient, type ScheduleHandle } from '@temporalio/client'
import type { Platform } from '../src/domain/shared/platforms.ts'
import type { Post } from '../src/domain/posts/post.ts'
import { DAY } from '../src/domain/shared/times.ts'
import type { CollectedPosts } from '../src/workflows/contract/analytics.ts'
import { controlOf } from '../tests/support/platform-control.ts'
import { publishedPost } from '../tests/support/published-post.ts'
import { closedLoop } from './loops.ts'
import { openService } from './service.ts'
import { signUp } from './users.ts'
import type { World } from './world.ts'

export type CountedPlatform = Extract<Platform, 'bluesky' | 'mastodon' | 'threads'>

/** A request to the simulators: create an account with posts and connect it for the user of the token. */
export interface OwnRequest {
  platform: CountedPlatform
  name: string
  posts: number
  token: string
}

export interface Owned {
  accountId: string
  postIds: string[]
}

export interface Author extends Owned {
  userId: string
}

const COLLECTION = 'collectPostMetrics'
const CONCURRENT_SIGN_UPS = 8
const OLDEST_DAYS = 29
const POLL_MS = 20

/**
 * Starts the service with simulated platforms on which users have posted.
 * @param settings additional settings of the service
 */
export async function openCollection(world: World, settings: Record<string, string> = {}) {
  const service = await openService(world, {
    simulators: 'counted-platforms',
    // The simulated users connect without a browser and its cookies.
    settings: { CONNECT_COOKIE: 'browsers', ...settings },
  })
  const { context, worker, startWorker, ready } = service
  const { ownUrl, threadsControl } = ready as { ownUrl: string; threadsControl: string }
  const { TEMPORAL_ADDRESS: address, TEMPORAL_NAMESPACE: namespace } = context.config
  const connection = await Connection.connect({ address })
  const schedule = new ScheduleClient({ connection, namespace }).getHandle(COLLECTION)
  const workflows = new WorkflowClient({ connection, namespace })
  const posts = context.database.connection.collection<Post>('posts')
  // Collections start on request only, not every quarter of an hour.
  await schedule.pause()

  async function makeAuthor(platform: CountedPlatform, count: number): Promise<Author> {
    const { userId, token } = await signUp(context)
    const body: OwnRequest = { platform, name: `b${userId.slice(-12)}`, posts: count, token }
    const response = await fetch(ownUrl, { method: 'POST', body: JSON.stringify(body) })
    if (!response.ok) throw new Error(`The simulator could not create the account: ${await response.text()}`)
    return { userId, ...((await response.json()) as Owned) }
  }

  return {
    context,
    worker,
    startWorker,

    /** Delays each response of Threads. */
    async delayThreads(delayMs: number): Promise<void> {
      await controlOf(threadsControl).fault({ action: { delayMs } })
    },

    /** Creates users with `count` posts each on the platform; no post is due yet. */
    async makeAuthors(platform: CountedPlatform, users: number, count: number): Promise<Author[]> {
      const authors: Author[] = []
      await closedLoop(users, CONCURRENT_SIGN_UPS, async () => void authors.push(await makeAuthor(platform, count)))
      return authors
    },

    /** Makes all posts of these authors due, in every age class, and no others. */
    async makeDue(platform: CountedPlatform, authors: Author[]): Promise<void> {
      await posts.deleteMany({})
      for (const { userId, accountId, postIds } of authors) {
        await posts.insertMany(
          postIds.map((platformPostId, index) => {
            const completedAt = new Date(Date.now() - ((index + 1) / postIds.length) * OLDEST_DAYS * DAY)
            return publishedPost({ userId, on: [platform], completedAt, accountId, platformPostId })
          }),
        )
      }
    },

    /** Triggers a run of the Schedule and waits for its end. */
    async collect(): Promise<CollectedPosts> {
      const before = await lastRun(schedule)
      await schedule.trigger()
      for (;;) {
        const workflowId = await lastRun(schedule)
        if (workflowId !== before) return (await workflows.getHandle(workflowId!).result()) as CollectedPosts
        await delay(POLL_MS)
      }
    },

    async stop(): Promise<void> {
      await connection.close()
      await service.stop()
    },
  }
}

export type Collection = Awaited<ReturnType<typeof openCollection>>

async function lastRun(schedule: ScheduleHandle): Promise<string | null> {
  const { recentActions } = (await schedule.describe()).info
  const action = recentActions.at(-1)?.action
  return action?.type === 'startWorkflow' ? action.workflow.workflowId : null
}
