import { randomBytes } from 'node:crypto'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { pathToFileURL } from 'node:url'
import { MockActivityEnvironment } from '@temporalio/testing'
import { expect } from 'vitest'
import type * as ActivitiesModule from '../../../src/activities/index.ts'
import { createRunningWork } from '../../../src/activities/shared/running-work.ts'
import type * as AppModule from '../../../src/api/app.ts'
import type { Clock } from '../../../src/clock.ts'
import type * as RestoredPostsModule from '../../../src/commands/posts/restored-posts.ts'
import type * as ConfigModule from '../../../src/config/schema.ts'
import type * as ContextModule from '../../../src/context.ts'
import { findEntry } from '../../../src/domain/posts/post-entries.ts'
import { consent } from '../../../sandbox/platforms/shared/consent.ts'
import { newUser } from '../../../src/domain/users/user.ts'
import type { PublishOrchestrator } from '../../../src/integrations/temporal/orchestrator.ts'
import { createLogger } from '../../../src/logger.ts'
import { newId } from '../../../src/store/shared/schema.ts'
import { createClient, type Send } from '../client.ts'
import { readDatabase, readTokens } from '../gather.ts'
import type { Canary, Evidence } from '../judge/evidence.ts'
import { INACTIVE_ORCHESTRATOR } from '../../support/inactive-orchestrator.ts'
import { createOperationLog } from '../operations.ts'
import { matchesCall, type Browser, type FaultPlatform, type FaultPlatforms } from '../platforms.ts'
import { unique } from '../cluster.ts'
import { readDump, restoreDump } from '../dump.ts'
import type * as NativeImportModule from './native-import.ts'

/** Vite would need more processor time to load the copies of the source than the tests themselves. */
const { importNatively } = createRequire(import.meta.url)('./native-import.ts') as typeof NativeImportModule

/** The public URL of the service. No server listens there: requests are injected. */
export const PUBLIC_URL = 'http://localhost:4000'

const PUBLISH_TIMEOUT_MS = 1_500
const LEASE_MARGIN_MS = 2_000
/** Longer than any delay of a call in a scenario. */
const SETTLE_MS = 10_000
const MAX_WAIT_MS = 500
const DELIVERY_TIMEOUT_MS = 30_000

export interface InProcessClusterOptions {
  /** The folder whose `src` is run. */
  root: string
  mongoUrl: string
  sandbox: FaultPlatforms
  /** The platform of all posts. */
  platform: FaultPlatform
}

/**
 * Starts two instances of the service in this process, as two processes would run it. The routes, activities, database and platform
 * are real. Instead of Temporal, the scenario calls the activities.
 */
export async function startInProcessCluster({ root, mongoUrl, sandbox, platform }: InProcessClusterOptions) {
  const load = (file: string) => importNatively(pathToFileURL(join(root, 'src', file)).href)
  const { createContext } = (await load('context.ts')) as typeof ContextModule
  const { buildApp } = (await load('api/app.ts')) as typeof AppModule
  const { createActivities } = (await load('activities/index.ts')) as typeof ActivitiesModule
  const { markRestoredPosts } = (await load('commands/posts/restored-posts.ts')) as typeof RestoredPostsModule
  const { readConfig } = (await load('config/schema.ts')) as typeof ConfigModule
  const database = new URL(mongoUrl)
  database.pathname = `/${unique('planted')}`

  const config = readConfig({
    NODE_ENV: 'test',
    LOG_LEVEL: 'silent',
    PUBLIC_URL,
    MONGODB_URL: database.href,
    JWT_SECRET: randomBytes(32).toString('hex'),
    REFRESH_TOKEN_SECRET: randomBytes(32).toString('hex'),
    OAUTH_STATE_SECRET: randomBytes(32).toString('hex'),
    TOKEN_ENCRYPTION_KEYS: `planted:${randomBytes(32).toString('base64')}`,
    S3_SECRET_ACCESS_KEY: 'not used',
    CONNECT_COOKIE: 'browsers',
    RATE_LIMIT_PER_USER: '100000',
    RATE_LIMIT_PER_ADDRESS: '100000',
    PUBLISH_TIMEOUT_MS: String(PUBLISH_TIMEOUT_MS),
    UNANSWERED_CALL_SETTLE_MS: String(SETTLE_MS),
    ...sandbox.env,
  })
  const log = createOperationLog()
  const renewals = { expected: 0 }
  const exchanges = { expected: 0 }

  const { systemClock } = (await load('clock.ts')) as { systemClock: Clock }
  /** By instant, a promise that resolves when a delivery starts to wait for that instant. */
  const armedAt = new Map<number, PromiseWithResolvers<void>>()
  const findArmed = (at: number) => {
    const armed = armedAt.get(at) ?? Promise.withResolvers<void>()
    armedAt.set(at, armed)
    return armed
  }
  const watchedClock: Clock = {
    ...systemClock,
    sleepUntil(instant, signal) {
      findArmed(instant.getTime()).resolve()
      return systemClock.sleepUntil(instant, signal)
    },
  }

  async function startInstance(clock: Clock = watchedClock) {
    const orchestrator: PublishOrchestrator = {
      ...INACTIVE_ORCHESTRATOR,
      start: async () => true,
      signal: async () => true,
      startWork: async () => true,
      notifySubscription: async () => true,
    }
    const context = await createContext(config, {
      logger: createLogger('silent'),
      orchestrator,
      clock,
    })
    const activities = createActivities({
      ...context,
      running: createRunningWork(),
      publishTimeoutMs: config.PUBLISH_TIMEOUT_MS,
      unansweredSettleMs: config.UNANSWERED_CALL_SETTLE_MS,
      maxLatenessMs: config.DELIVERY_MAX_LATENESS_MS,
      activitySlots: config.WORKER_ACTIVITY_SLOTS,
      preparationSlots: config.WORKER_PREPARATION_SLOTS,
      notificationSlots: config.WORKER_NOTIFICATION_SLOTS,
      webhookSlots: config.WORKER_WEBHOOK_SLOTS,
      callsInFlight: config.PLATFORM_CALLS_IN_FLIGHT,
    })
    return { context, activities, app: await buildApp(context) }
  }

  const instances = [await startInstance(), await startInstance()] as const
  const [first] = instances
  await first.context.database.createSchema()
  // On a busy machine the first check may take longer than a request waits for it.
  for (const { context } of instances) await context.readiness.waitUntilReady(() => {})

  const password = unique('password')
  const user = newUser(
    {
      _id: newId(),
      email: `${unique('user')}@example.com`,
      name: 'Planted',
      passwordHash: await first.context.passwords.hash(password, ''),
      limits: { maxPosts: 100, maxCaptionGenerations: 1 },
    },
    new Date(),
  )
  await first.context.users.insert(user)
  const logIn = () =>
    first.app.inject({ method: 'POST', url: '/api/auth/login', payload: { email: user.email, password } })
  // Many clusters start concurrently, so that a slow login may get a 503.
  let login = await logIn()
  while (login.statusCode === 503) login = await logIn()
  expect(login.statusCode, login.body).toBe(200)
  const token = login.json<{ data: { accessToken: string } }>().data.accessToken
  const clients = instances.map(({ app }) => {
    const send: Send = async (method, url, body) => {
      const headers = { authorization: `Bearer ${token}` }
      const answer = await app.inject({ method, url, headers, ...(body ? { payload: body } : {}) })
      return { status: answer.statusCode, body: answer.json() }
    }
    return { client: createClient({ log, userId: user._id, send }), send }
  })
  const browser: Browser = {
    send: clients[0]!.send,
    async goTo(url) {
      const answer = await first.app.inject({ url: url.replace(PUBLIC_URL, '') })
      return answer.headers.location ?? `status ${answer.statusCode}`
    },
  }
  const get = (number: number, url: string, headers: Record<string, string>) =>
    instances[number % instances.length]!.app.inject({ url: url.replace(PUBLIC_URL, ''), headers })
  const connected = await sandbox.connect(unique('u'), browser, platform.platform)
  const account = connected.find((candidate) => candidate.platform === platform.platform)!
  const listExchangeCalls = async () =>
    (await platform.control.requests()).filter(
      (request) => platform.calls.exchange && matchesCall(platform.calls.exchange, request),
    )
  /** The earlier exchanges; null in scenarios without a connect. Exchanges name no account, so only exclusive scenarios count them. */
  let exchangesBefore: number | null = null

  async function countExchanges(): Promise<number> {
    return exchangesBefore === null ? 0 : (await listExchangeCalls()).length - exchangesBefore
  }

  /** Runs an activity as a worker would. */
  const run = <A extends unknown[], R>(activity: (...args: A) => Promise<R>, ...args: A): Promise<R> =>
    new MockActivityEnvironment().run(activity, ...args)

  /** Makes attempts like the workflow until the delivery ends, but with shortened waits. */
  async function deliver(number: number, postId: string): Promise<void> {
    const { context, activities } = instances[number % instances.length]!
    for (const end = Date.now() + DELIVERY_TIMEOUT_MS; Date.now() < end;) {
      const post = await context.posts.find(postId)
      const entry = post && findEntry(post, platform.platform)
      if (!entry || post.status === 'CANCELLED') return
      const input = { postId, userId: post.userId, platform: platform.platform, round: entry.delivery.round }
      const hasEnded = await run(activities.publishToPlatform, input).then(
        ({ outcome }) => outcome !== 'superseded',
        () => false,
      )
      if (hasEnded) return
      const { nextAttemptAt, leaseUntil } = findEntry((await context.posts.find(postId))!, platform.platform)!.delivery
      const wait = Math.max(...[nextAttemptAt, leaseUntil].map((at) => (at ? at.getTime() - Date.now() : 0)))
      await delay(Math.min(Math.max(wait, 50), MAX_WAIT_MS))
    }
  }

  return {
    platform,
    account,
    renewals,
    exchanges,
    instances,
    /** Resolves when a delivery is armed: it only waits for this instant. */
    waitUntilArmed: (dueAt: number): Promise<void> => findArmed(dueAt).promise,
    client: (number = 0) => clients[number % clients.length]!.client,
    deliver,

    /** Creates a post on the platform and returns its id. */
    async create(text: string, input: object = {}): Promise<string> {
      const answer = await clients[0]!.client.create({ text, platforms: [platform.platform], ...input })
      return (answer!.body as { data: { postId: string } }).data.postId
    },

    /** Starts to connect the account in a new browser, and consents on the platform's page. */
    async beginConnect() {
      exchangesBefore ??= (await listExchangeCalls()).length
      const headers = { authorization: `Bearer ${token}`, origin: config.FRONTEND_URL }
      const begun = await get(0, `/api/platform/${platform.platform}/connect`, headers)
      const { authUrl, url = authUrl } = begun.json<{ data: { authUrl?: string; url?: string } }>().data
      const [{ name, value }] = begun.cookies as [{ name: string; value: string }]
      return { callback: await consent(url!, account.accountId), cookie: `${name}=${value}` }
    },

    /** Opens the callback URL in the browser with this cookie, and returns the URL of the redirect. */
    async openCallback(number: number, callback: string, cookie: string): Promise<string> {
      return (await get(number, callback, { cookie })).headers.location ?? ''
    },

    /** Does the work, restores the database to the state before it, and marks that, like an operator. */
    async restoreAfter(work: () => Promise<unknown>): Promise<void> {
      const { context } = first
      const database = context.database.connection.db!
      const relaysIdle = () => Promise.all(instances.map((instance) => instance.context.eventRelay.idle()))
      await relaysIdle()
      const dumpedAt = new Date()
      const dump = await readDump(database)
      await work()
      await relaysIdle()
      await restoreDump(database, dump)
      await markRestoredPosts(context, dumpedAt)
    },

    /** Runs sweepers concurrently, with a clock that is ahead by `aheadMs`. */
    async sweep(aheadMs: number, sweepers = 1): Promise<void> {
      const clock = { ...systemClock, now: () => new Date(Date.now() + aheadMs) }
      const swept = await Promise.all(Array.from({ length: sweepers }, () => startInstance(clock)))
      await Promise.all(swept.map(({ activities }) => run(activities.sweepDeliveries)))
      for (const { app, context } of swept) {
        await app.close()
        await context.close()
      }
    },

    async setMaxPosts(maxPosts: number): Promise<void> {
      await first.context.database.connection
        .collection<{ _id: string }>('users')
        .updateOne({ _id: user._id }, { $set: { 'limits.maxPosts': maxPosts } })
    },

    /** Injects a fault that affects only the next call of this cluster's account. */
    fault: (kind: keyof FaultPlatform['calls'], action: object) =>
      platform.control.fault({ ...platform.calls[kind]!, account: account.accountId, times: 1, action }),

    /** Ends the relays of events, as if each process were killed after every write. */
    async stopRelays(): Promise<void> {
      await Promise.all(instances.map(({ context }) => context.eventRelay.close()))
    },

    async gatherEvidence(): Promise<Evidence> {
      await Promise.all(instances.map(({ context }) => context.eventRelay.idle()))
      const { document, ...stored } = await readDatabase(first.context.database.connection.db!)
      const requests = (await platform.control.requests()).filter((request) => request.account === account.accountId)
      const actual = requests.filter(
        (request) => platform.calls.renew && matchesCall(platform.calls.renew, request),
      ).length
      return {
        at: Date.now(),
        operations: log.operations,
        ...stored,
        webhooks: [],
        platforms: [
          {
            platform: platform.platform,
            ledger: (await platform.control.ledger()).filter((entry) => entry.account === account.account),
            requests,
            renewals: [{ account: account.account, actual, expected: renewals.expected }],
            exchanges: { actual: await countExchanges(), expected: exchanges.expected },
          },
        ],
        outages: [],
        exits: [],
        canaries: [
          { name: 'a password', value: password },
          { name: 'a token of the user', value: token },
          ...Object.entries(account.secrets).map(([name, value]): Canary => ({ name, value })),
          ...(await readTokens(first.context.database.connection.db!, first.context.cipher, [user._id])),
        ],
        documents: [document],
        leaseMs: PUBLISH_TIMEOUT_MS + LEASE_MARGIN_MS,
      }
    },

    async close(): Promise<void> {
      for (const { app, context } of instances) {
        await app.close()
        await context.close()
      }
    },
  }
}

export type InProcessCluster = Awaited<ReturnType<typeof startInProcessCluster>>
