import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { Connection, ScheduleClient } from '@temporalio/client'
import { createApiClient } from '../sandbox/api-client.ts'
import { startMastodon } from '../sandbox/platforms/mastodon.ts'
import { connectByPage, type UserApi } from '../sandbox/platforms/sandbox-platform.ts'
import { startThreads } from '../sandbox/platforms/threads.ts'
import { userApi } from '../sandbox/seed.ts'
import { freePort } from '../sandbox/servers/process.ts'
import { buildApp } from '../src/api/app.ts'
import { createContext } from '../src/context.ts'
import { buildCallbackUrl } from '../src/domain/accounts/platform-connect.ts'
import type { Post } from '../src/domain/posts/post.ts'
import { DAY } from '../src/domain/shared/times.ts'
import type { Collected } from '../src/workflows/contract/analytics.ts'
import { controlOf } from '../tests/support/platform-control.ts'
import { publishedPost } from '../tests/support/published-post.ts'
import { closedLoop } from './loops.ts'
import { startChild } from './processes.ts'
import { openWorkflows } from './sides.ts'
import { signUp } from './users.ts'
import type { World } from './world.ts'

type CountedPlatform = 'mastodon' | 'threads'

/** A user with posts on one account. */
interface Author {
  userId: string
  accountId: string
  postIds: string[]
}

const COLLECTION = 'collectPostMetrics'
const CONCURRENT_SIGN_UPS = 8
const OLDEST_DAYS = 29
const POLL_MS = 20
const PLENTY = { max: 1_000_000, seconds: 300 }

/**
 * Starts the service with simulated platforms: the API and the platforms in this process, and a worker. Collections start on request only.
 * @param settings additional settings of the service
 */
export async function openCollection(world: World, settings: Record<string, string> = {}) {
  const dir = mkdtempSync(join(tmpdir(), 'postonce-bench-platforms-'))
  const rateLimits = { api: PLENTY, media: PLENTY, deletes: PLENTY, statuses: PLENTY }
  const mastodon = await startMastodon({ dir: join(dir, 'mastodon'), rateLimits })
  const threads = await startThreads({ dir: join(dir, 'threads') })
  const port = await freePort()
  const url = `http://127.0.0.1:${port}`
  const redirectUris = [buildCallbackUrl(url, 'mastodon')]
  const mastodonApp = mastodon.createApp({ name: 'postonce', redirectUris })
  const threadsApp = threads.createApp({ name: 'postonce', redirectUris: [buildCallbackUrl(url, 'threads')] })
  const config = await world.config({
    PUBLIC_URL: url,
    // The simulated users connect without a browser and its cookies.
    CONNECT_COOKIE: 'browsers',
    MASTODON_INSTANCE_URL: mastodon.url,
    MASTODON_CLIENT_ID: mastodonApp.clientId,
    MASTODON_CLIENT_SECRET: mastodonApp.clientSecret,
    THREADS_APP_ID: threadsApp.id,
    THREADS_APP_SECRET: threadsApp.secret,
    THREADS_AUTHORIZE_URL: threads.url,
    THREADS_GRAPH_URL: threads.url,
    ...settings,
  })
  const context = await createContext(config)
  await context.database.createSchema()
  await context.orchestrator.ensureSearchAttributes()
  await context.orchestrator.ensureSchedules(config.SWEEP_INTERVAL_MS, context.collection.intervalMs)
  const app = await buildApp(context)
  await app.listen({ host: '127.0.0.1', port })
  const env = { BENCH_BUNDLE: await world.bundle(), BENCH_REAL_PLATFORMS: 'yes' }
  const startWorker = () => startChild('worker', config, env)
  const worker = await startWorker()
  const connection = await Connection.connect({ address: config.TEMPORAL_ADDRESS })
  const schedule = new ScheduleClient({ connection, namespace: config.TEMPORAL_NAMESPACE }).getHandle(COLLECTION)
  const { workflows, close } = await openWorkflows(config)
  const posts = context.database.connection.collection<Post>('posts')
  await schedule.pause()

  const own: Record<CountedPlatform, (name: string, texts: string[], api: UserApi) => Promise<Omit<Author, 'userId'>>> =
    {
      async mastodon(name, texts, api) {
        const account = mastodon.createAccount({ username: name })
        await connectByPage('mastodon', account.id, api)
        return { accountId: account.id, postIds: texts.map((text) => mastodon.publishElsewhere(account, text).id) }
      },
      async threads(name, texts, api) {
        const { id } = threads.createAccount({ username: name })
        await connectByPage('threads', id, api)
        return { accountId: id, postIds: texts.map((text) => threads.store.publishElsewhere(id, text).id) }
      },
    }

  async function findLastRun(): Promise<string | null> {
    const action = (await schedule.describe()).info.recentActions.at(-1)?.action
    return action?.type === 'startWorkflow' ? action.workflow.workflowId : null
  }

  return {
    worker,
    /** Starts another worker. The caller stops it. */
    startWorker,

    /** Delays each response of Threads. */
    async delayThreads(delayMs: number): Promise<void> {
      await controlOf(threads.control).fault({ action: { delayMs } })
    },

    /** Creates users with `count` posts each on the platform; no post is due yet. */
    async makeAuthors(platform: CountedPlatform, users: number, count: number): Promise<Author[]> {
      const authors: Author[] = []
      const texts = Array.from({ length: count }, (_, index) => `Number ${index}`)
      await closedLoop(users, CONCURRENT_SIGN_UPS, async () => {
        const { userId, token } = await signUp(context)
        const api = userApi(createApiClient(url), token)
        authors.push({ userId, ...(await own[platform](`b${userId.slice(-12)}`, texts, api)) })
      })
      return authors
    },

    /** Makes all posts of these authors due, and no others. */
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

    /** Triggers a run of the Schedule and waits for its end. @throws unless it saved at least `due` posts */
    async collect(due: number): Promise<number> {
      const before = await findLastRun()
      await schedule.trigger()
      let workflowId = before
      while (workflowId === before) {
        await delay(POLL_MS)
        workflowId = await findLastRun()
      }
      const run = workflows.getHandle(workflowId!).result() as Promise<Collected>
      const result = await Promise.race([run, worker.failed])
      // Young posts are due again when their interval ends during the run, so `saved` may exceed `due`.
      if (result.saved < due || result.skipped + result.failed > 0) {
        throw new Error(`This run is void: ${JSON.stringify(result)} of ${due} posts`)
      }
      return result.saved
    },

    async stop(): Promise<void> {
      await close()
      await connection.close()
      await worker.stop()
      await app.close()
      await context.close()
      await Promise.all([mastodon.stop(), threads.stop()])
      rmSync(dir, { recursive: true, force: true })
    },
  }
}
