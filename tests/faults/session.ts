import { setTimeout as delay } from 'node:timers/promises'
import { request as send } from 'undici'
import { createTokenCipher } from '../../src/security/token-cipher.ts'
import type { Platform } from '../../src/domain/shared/platforms.ts'
import { createClient, type Client, type Send } from './client.ts'
import { countRunningPosts, readDatabase, readHistories, readTokens } from './gather.ts'
import { uploadImage } from './image.ts'
import type { Canary, Evidence, PlatformEvidence, StoredPost } from './judge/evidence.ts'
import { formatViolations, judge } from './judge/judge.ts'
import { createOperationLog, type Answer } from './operations.ts'
import { withoutReplacing, type Browser, type FaultPlatform } from './platforms.ts'
import { follow } from '../../sandbox/platforms/shared/follow.ts'
import type { SandboxAccount } from '../../sandbox/platforms/sandbox-platform.ts'
import { openWebhooks, type Webhooks } from './webhooks.ts'
import { unique, type FaultCluster } from './cluster.ts'

const RESPONSE_TIMEOUT_MS = 20_000
const IDLE_TIMEOUT_MS = 240_000
const IDLE_POLL_MS = 250
const FINAL = ['DRAFT', 'COMPLETED', 'PARTIAL_SUCCESS', 'FAILED', 'CANCELLED']

/** An account beside the default account of its platform. */
interface FurtherAccount extends SandboxAccount {
  /** The id in the service. */
  id: string
}

export interface SessionUser {
  userId: string
  /** The default accounts. */
  accounts: Map<Platform, SandboxAccount>
  /** The second account of each platform, in a session with further accounts. */
  further: ReadonlyMap<Platform, FurtherAccount>
  /** Returns the client of an API process. Numbers beyond the last process start again with the first. */
  clientFor(api: number): Client
}

interface SessionOptions {
  users: number
  maxPosts?: number
  /** Gives each user a second account on every platform. */
  withFurtherAccounts?: boolean
  /** Gives each user a webhook, which the judge compares with the feed. */
  withWebhooks?: boolean
}

/** Opens a session: users of its own, whose operations are judged alone. Sessions on one cluster are independent of each other. */
export async function openSession(cluster: FaultCluster, options: SessionOptions) {
  const { journal, platforms, database } = cluster
  const startedAt = Date.now()
  const logSizes = cluster.logSizes()
  const log = createOperationLog(({ body: _body, ...operation }) => journal.write({ operation }))
  const canaries: Canary[] = Object.entries(cluster.secrets).map(([name, value]) => ({
    name: `the secret ${name}`,
    value,
  }))
  const webhooks = options.withWebhooks ? await openWebhooks() : null
  const users: SessionUser[] = []
  for (let count = 0; count < options.users; count++) await addUser()

  async function addUser(): Promise<SessionUser> {
    const name = unique('u')
    const credentials = { email: `${name}@example.com`, password: unique('password') }
    await cluster.addUsers([credentials])
    const logins = await Promise.all(cluster.addresses.map((address) => logIn(address, credentials)))
    const [{ send, userId, token }] = logins as [Login]
    if (options.maxPosts !== undefined) {
      await database
        .collection<{ _id: string }>('users')
        .updateOne({ _id: userId }, { $set: { 'limits.maxPosts': options.maxPosts } })
    }
    canaries.push({ name: 'a password', value: credentials.password }, { name: 'an access token', value: token })
    if (webhooks) canaries.push(...(await webhooks.add(userId, send)))
    const connected = await cluster.connect(name, { send, goTo })
    const accounts = new Map(connected.map((account) => [account.platform, account]))
    const further = new Map<Platform, FurtherAccount>()
    plantSecrets(connected)
    if (options.withFurtherAccounts) {
      const others = await connectFurtherAccounts(name, { send, goTo })
      for (const account of others) further.set(account.platform, account)
      plantSecrets(others)
    }
    const image = await uploadImage(send)
    const clients = logins.map((login, index) =>
      createClient({ log, userId, send: login.send, process: `api-${index + 1}`, image }),
    )
    const user: SessionUser = {
      ...{ userId, accounts, further },
      clientFor: (api) => clients[api % clients.length]!,
    }
    users.push(user)
    return user
  }

  function plantSecrets(accounts: SandboxAccount[]): void {
    for (const { platform, secrets } of accounts) {
      for (const [secret, value] of Object.entries(secrets)) canaries.push({ name: `${secret} of ${platform}`, value })
    }
  }

  async function connectFurtherAccounts(name: string, browser: Browser): Promise<FurtherAccount[]> {
    const connected = await cluster.connect(`${name}b`, withoutReplacing(browser))
    const { body } = await browser.send('GET', '/api/platform/accounts')
    const { data } = body as { data: { _id: string; platform: Platform; platformId: string }[] }
    return connected.map((account) => {
      const { platform, accountId } = account
      const { _id: id } = data.find((one) => one.platform === platform && one.platformId === accountId)!
      return { ...account, id }
    })
  }

  const readPosts = () =>
    database
      .collection<StoredPost>('posts')
      .find({ userId: { $in: users.map(({ userId }) => userId) } })
      .toArray()

  /** Returns whether each webhook has got as many events as its feed has. */
  async function hasDelivered({ evidence }: Webhooks): Promise<boolean> {
    const counts = evidence().map(async ({ userId, received }) => {
      const stored = await database.collection('events').countDocuments({ userId, sequence: { $gt: 0 } })
      return new Set(received.map(({ id }) => id)).size >= stored
    })
    return (await Promise.all(counts)).every(Boolean)
  }

  async function gatherEvidence(): Promise<Evidence> {
    const { document, posts: all, users: stored, notifications, events } = await readDatabase(database)
    const own = new Set(users.map(({ userId }) => userId))
    const secrets = [...canaries, ...(await readPlatformTokens())]
    cluster.canaries.push(...secrets)
    return {
      at: Date.now(),
      operations: log.operations,
      posts: all.filter(({ userId }) => own.has(userId)),
      users: stored.filter(({ _id }) => own.has(_id)),
      notifications: notifications.filter(({ userId }) => own.has(userId)),
      events: events?.filter(({ userId }) => own.has(userId)) ?? null,
      webhooks: webhooks?.evidence() ?? [],
      platforms: (await Promise.all(platforms.map(gatherPlatformEvidence))).flat(),
      outages: journal.outages.filter(({ until }) => until === null || until >= startedAt),
      exits: journal.exits.filter(({ at }) => at >= startedAt),
      canaries: secrets,
      documents: [
        document,
        await readHistories(cluster.temporalAddress, cluster.temporalNamespace, new Date(startedAt)),
        ...cluster.logsSince(logSizes),
      ],
      leaseMs: cluster.leaseMs,
    }
  }

  /** Separates the further accounts from the default accounts. */
  async function gatherPlatformEvidence({ platform, control }: FaultPlatform): Promise<PlatformEvidence[]> {
    const [ledger, requests] = [await control.ledger(), await control.requests()]
    const select = (accounts: SandboxAccount[]) => ({
      platform,
      ledger: ledger.filter(({ account }) => accounts.some((one) => one.account === account)),
      requests: requests.filter(({ account }) => accounts.some((one) => one.accountId === account)),
    })
    const further = users.flatMap((user) => user.further.get(platform) ?? [])
    return [
      select(users.flatMap((user) => user.accounts.get(platform) ?? [])),
      ...further.map((account) => ({ ...select([account]), target: account.id })),
    ]
  }

  /** The decrypted platform tokens of these users. */
  const readPlatformTokens = () =>
    readTokens(
      database,
      createTokenCipher(cluster.secrets.tokenEncryption),
      users.map(({ userId }) => userId),
    )

  return {
    startedAt,
    users,
    /** Adds a user with an account on every platform. */
    addUser,
    log,
    readPosts,
    gatherEvidence,

    /** Waits until everything is idle, or until a deadline. The judge then reports what is still active. */
    async waitUntilIdle(withinMs = IDLE_TIMEOUT_MS): Promise<void> {
      for (const end = Date.now() + withinMs; Date.now() < end; await delay(IDLE_POLL_MS)) {
        const posts = await readPosts()
        if (posts.some(({ status }) => !FINAL.includes(status))) continue
        // The sweeper relays the events of a process that was killed.
        if (posts.some(({ pendingEvents = [] }) => pendingEvents.length > 0)) continue
        // A workflow stores the last notification after the last status and before it ends.
        if ((await countRunningPosts(cluster.temporalAddress, cluster.temporalNamespace)) > 0) continue
        if (webhooks === null || (await hasDelivered(webhooks))) return
      }
    },

    /** Judges the evidence and returns one line per violation. */
    verdict: async (): Promise<string[]> => formatViolations(judge(await gatherEvidence())),
  }
}

export type Session = Awaited<ReturnType<typeof openSession>>

interface Login {
  send: Send
  userId: string
  token: string
}

async function logIn(address: string, credentials: { email: string; password: string }): Promise<Login> {
  const { body } = await request(address, 'POST', '/api/auth/login', credentials)
  const { accessToken: token, user } = (body as { data: { accessToken: string; user: { _id: string } } }).data
  return { token, userId: user._id, send: (method, path, payload) => request(address, method, path, payload, token) }
}

const goTo = (url: string): Promise<string> => follow(url, AbortSignal.timeout(RESPONSE_TIMEOUT_MS))

async function request(address: string, method: string, path: string, body?: object, token?: string): Promise<Answer> {
  // `fetch` would add browser headers, for which the API requires cookies.
  const response = await send(`${address}${path}`, {
    method,
    headers: {
      ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
    },
    signal: AbortSignal.timeout(RESPONSE_TIMEOUT_MS),
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  })
  return { status: response.statusCode, body: await response.body.json() }
}
