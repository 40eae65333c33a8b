import { randomBytes } from 'node:crypto'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { pathToFileURL } from 'node:url'
import { MockActivityEnvironment } from '@temporalio/testing'
import { expect } from 'vitest'
import type * as ActivitiesModule from '../../../src/activities/index.ts'
import type * as AppModule from '../../../src/api/app.ts'
import type { Clock } from '../../../src/clock.ts'
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
import { createOperationLog } from '../operations.ts'
import { isOne, type Browser, type FaultPlatform, type FaultPlatforms } from '../platforms.ts'
import { unique } from '../world.ts'

/** Where browsers find the service of every stage; nothing listens there. */
export const PUBLIC_URL = 'http://localhost:4000'

const PUBLISH_TIMEOUT_MS = 1_500
const LEASE_MARGIN_MS = 2_000
/** Longer than any call of a scenario is held up. */
const SETTLE_MS = 6_000
const LONGEST_WAIT_MS = 500
const ENDS_WITHIN_MS = 30_000

export interface StageOptions {
  /** The folder whose `src` is run. */
  root: string
  mongoUrl: string
  outside: FaultPlatforms
  /** Where its posts go. */
  platform: FaultPlatform
}

/**
 * The service twice, as two processes would run it, in this process: the routes, the activities and the database are real, and so is
 * the platform; Temporal's part, calling the activities, is played by the scenario.
 */
export async function openStage({ root, mongoUrl, outside, platform }: StageOptions) {
  const load = (file: string) => import(pathToFileURL(join(root, 'src', file)).href) as Promise<unknown>
  const { createContext } = (await load('context.ts')) as typeof ContextModule
  const { buildApp } = (await load('api/app.ts')) as typeof AppModule
  const { createActivities } = (await load('activities/index.ts')) as typeof ActivitiesModule
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
    ...outside.env,
  })
  const log = createOperationLog()
  const renewals = { due: 0 }
  const exchanges = { due: 0 }
  /** Whether Temporal hears of what is stored. */
  const temporal = { answers: true, started: [] as string[] }

  const { systemClock } = (await load('clock.ts')) as { systemClock: Clock }
  /** Instants that a delivery waits for, and who waits for such a delivery. */
  const armed = new Map<number, PromiseWithResolvers<void>>()
  const arming = (at: number) => {
    const known = armed.get(at) ?? Promise.withResolvers<void>()
    armed.set(at, known)
    return known
  }
  const watchedClock: Clock = {
    ...systemClock,
    sleepUntil(instant, signal) {
      arming(instant.getTime()).resolve()
      return systemClock.sleepUntil(instant, signal)
    },
  }

  async function startProcess(clock: Clock = watchedClock) {
    const orchestrator = {
      async start({ _id }) {
        if (temporal.answers) temporal.started.push(_id)
        return temporal.answers
      },
      signal: async () => temporal.answers,
      startWork: async () => temporal.answers,
      listOverdue: async () => [],
      terminateStuck: async () => false,
      notifySubscription: async () => temporal.answers,
      deleteWorkflows: async () => {},
      ping: async () => {},
      hasSchedules: async () => true,
      restartPosts: async () => {},
      ensureSearchAttributes: async () => {},
      ensureSchedules: async () => {},
      refreshMetrics: async () => 'failed' as const,
      findProblems: async () => [],
      close: async () => {},
    } satisfies PublishOrchestrator
    const context = await createContext(config, {
      logger: createLogger('silent'),
      orchestrator,
      clock,
    })
    const activities = createActivities({
      ...context,
      publishTimeoutMs: config.PUBLISH_TIMEOUT_MS,
      unansweredSettleMs: config.UNANSWERED_CALL_SETTLE_MS,
      maxLatenessMs: config.DELIVERY_MAX_LATENESS_MS,
      callsInFlight: config.PLATFORM_CALLS_IN_FLIGHT,
    })
    return { context, activities, app: await buildApp(context) }
  }

  const processes = [await startProcess(), await startProcess()] as const
  const [first] = processes
  await first.context.database.createIndexes()

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
  // Many stages start concurrently, and a request that takes too long gets a 503 and is repeated.
  let login = await logIn()
  while (login.statusCode === 503) login = await logIn()
  expect(login.statusCode, login.body).toBe(200)
  const token = login.json<{ data: { accessToken: string } }>().data.accessToken
  const clients = processes.map(({ app }) => {
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
  const send = (number: number, url: string, headers: Record<string, string>) =>
    processes[number % processes.length]!.app.inject({ url: url.replace(PUBLIC_URL, ''), headers })
  const connected = await outside.connect(unique('u'), browser, platform.platform)
  const account = connected.find((one) => one.platform === platform.platform)!
  const exchangeCalls = async () =>
    (await platform.control.requests()).filter(
      (request) => platform.calls.exchange && isOne(platform.calls.exchange, request),
    )
  /** Exchanges name no account: they are counted only for scenarios that are about them, which run alone. */
  let exchangedBefore: number | null = null

  async function exchangesMade(): Promise<number> {
    return exchangedBefore === null ? 0 : (await exchangeCalls()).length - exchangedBefore
  }

  /** Runs an activity as a worker would. */
  const run = <A extends unknown[], R>(activity: (...args: A) => Promise<R>, ...args: A): Promise<R> =>
    new MockActivityEnvironment().run(activity, ...args)

  /** What the workflow does: one attempt after the other until the post moves no further. Waits are cut short. */
  async function deliver(number: number, postId: string): Promise<void> {
    const { context, activities } = processes[number % processes.length]!
    for (const end = Date.now() + ENDS_WITHIN_MS; Date.now() < end;) {
      const post = await context.posts.find(postId)
      const entry = post && findEntry(post, platform.platform)
      if (!entry || post.status === 'CANCELLED') return
      const input = { postId, platform: platform.platform, round: entry.delivery.round }
      const isOver = await run(activities.publishToPlatform, input).then(
        ({ outcome }) => outcome !== 'again',
        () => false,
      )
      if (isOver) return
      const { nextAttemptAt, leaseUntil } = findEntry((await context.posts.find(postId))!, platform.platform)!.delivery
      const wait = Math.max(...[nextAttemptAt, leaseUntil].map((at) => (at ? at.getTime() - Date.now() : 0)))
      await delay(Math.min(Math.max(wait, 50), LONGEST_WAIT_MS))
    }
  }

  return {
    platform,
    account,
    temporal,
    renewals,
    exchanges,
    processes,
    /** Resolves when a delivery has nothing left to do but to wait for this instant. */
    untilArmed: (dueAt: number): Promise<void> => arming(dueAt).promise,
    client: (number = 0) => clients[number % clients.length]!.client,
    deliver,

    /** Creates a post of this user with the mark `n` and returns its id. */
    async create(text: string, wish: object = {}): Promise<string> {
      const answer = await clients[0]!.client.create({ text, platforms: [platform.platform], ...wish })
      return (answer!.body as { data: { postId: string } }).data.postId
    },

    /** Reconnects the account with a browser of its own, and consents on the platform's page. */
    async beginConnect() {
      exchangedBefore ??= (await exchangeCalls()).length
      const headers = { authorization: `Bearer ${token}`, origin: config.FRONTEND_URL }
      const begun = await send(0, `/api/platform/${platform.platform}/connect`, headers)
      const { authUrl, url = authUrl } = begun.json<{ data: { authUrl?: string; url?: string } }>().data
      const [{ name, value }] = begun.cookies as [{ name: string; value: string }]
      return { callback: await consent(url!, account.accountId), cookie: `${name}=${value}` }
    },

    /** Comes back from the page; returns where that ends. */
    async comeBack(number: number, callback: string, cookie: string): Promise<string> {
      return (await send(number, callback, { cookie })).headers.location ?? ''
    },

    /** What the sweeper's next run finds when so much time has passed. */
    async sweep(laterMs: number): Promise<void> {
      const late = await startProcess({ ...systemClock, now: () => new Date(Date.now() + laterMs) })
      await run(late.activities.sweepDeliveries)
      await late.app.close()
      await late.context.close()
    },

    async allow(maxPosts: number): Promise<void> {
      await first.context.database.connection
        .collection<{ _id: string }>('users')
        .updateOne({ _id: user._id }, { $set: { 'limits.maxPosts': maxPosts } })
    },

    /** A fault that meets only this stage's account. */
    fault: (which: keyof FaultPlatform['calls'], action: object) =>
      platform.control.fault({ ...platform.calls[which]!, account: account.accountId, times: 1, action }),

    async evidence(): Promise<Evidence> {
      const { document, ...stored } = await readDatabase(first.context.database.connection.db!)
      const requests = (await platform.control.requests()).filter((request) => request.account === account.accountId)
      const made = requests.filter((request) => platform.calls.renew && isOne(platform.calls.renew, request)).length
      return {
        at: Date.now(),
        operations: log.operations,
        ...stored,
        platforms: [
          {
            platform: platform.platform,
            ledger: (await platform.control.ledger()).filter((entry) => entry.account === account.account),
            requests,
            renewals: [{ account: account.account, made, due: renewals.due }],
            exchanges: { made: await exchangesMade(), due: exchanges.due },
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
      for (const { app, context } of processes) {
        await app.close()
        await context.close()
      }
    },
  }
}

export type Stage = Awaited<ReturnType<typeof openStage>>
