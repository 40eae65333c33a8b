import { setTimeout as delay } from 'node:timers/promises'
import { request as send } from 'undici'
import { createTokenCipher } from '../../src/security/token-cipher.ts'
import type { Platform } from '../../src/domain/shared/platforms.ts'
import { createClient, type Client, type Send } from './client.ts'
import { countRunning, readDatabase, readHistories, readTokens } from './gather.ts'
import { uploadImage } from './image.ts'
import type { Canary, Evidence, StoredPost } from './judge/evidence.ts'
import { judge, sentencesOf } from './judge/judge.ts'
import { createOperationLog, type Answer } from './operations.ts'
import { follow } from '../../sandbox/platforms/shared/follow.ts'
import type { SandboxAccount } from '../../sandbox/platforms/sandbox-platform.ts'
import { unique, type FaultWorld } from './world.ts'

const ANSWER_WITHIN_MS = 20_000
const REST_WITHIN_MS = 240_000
const REST_POLL_MS = 250
const FINAL = ['DRAFT', 'COMPLETED', 'PARTIAL_SUCCESS', 'FAILED', 'CANCELLED']

export interface SessionUser {
  userId: string
  accounts: Map<Platform, SandboxAccount>
  /** Requests through one of the API processes. */
  via(api: number): Client
}

/** A piece of work with users of its own, judged by itself: sessions on one world know nothing of each other. */
export async function openSession(world: FaultWorld, options: { users: number; maxPosts?: number }) {
  const { journal, platforms, database } = world
  const startedAt = Date.now()
  const marks = world.logMarks()
  const log = createOperationLog(({ body: _body, ...operation }) => journal.write({ operation }))
  const canaries: Canary[] = Object.entries(world.secrets).map(([name, value]) => ({
    name: `the secret ${name}`,
    value,
  }))
  const users: SessionUser[] = []
  for (let made = 0; made < options.users; made++) users.push(await addUser())

  async function addUser(): Promise<SessionUser> {
    const name = unique('u')
    const login = { email: `${name}@example.com`, password: unique('password') }
    await world.addUsers([login])
    const sends = await Promise.all(world.addresses.map((address) => logIn(address, login)))
    const [{ send, userId, token }] = sends as [LoggedIn]
    if (options.maxPosts !== undefined) {
      await database
        .collection<{ _id: string }>('users')
        .updateOne({ _id: userId }, { $set: { 'limits.maxPosts': options.maxPosts } })
    }
    canaries.push({ name: 'a password', value: login.password }, { name: 'an access token', value: token })
    const connected = await world.connect(name, { send, goTo })
    const accounts = new Map(connected.map((account) => [account.platform, account]))
    for (const { platform, secrets } of connected) {
      for (const [secret, value] of Object.entries(secrets)) canaries.push({ name: `${secret} of ${platform}`, value })
    }
    const image = await uploadImage(send)
    const clients = sends.map(({ send: through }, index) =>
      createClient({ log, userId, send: through, process: `api-${index + 1}`, image }),
    )
    return { userId, accounts, via: (api) => clients[api % clients.length]! }
  }

  const posts = () =>
    database
      .collection<StoredPost>('posts')
      .find({ userId: { $in: users.map(({ userId }) => userId) } })
      .toArray()

  async function evidence(): Promise<Evidence> {
    const { document, posts: all, users: stored, notifications } = await readDatabase(database)
    const own = new Set(users.map(({ userId }) => userId))
    const secrets = [...canaries, ...(await sealedSecrets())]
    world.canaries.push(...secrets)
    return {
      at: Date.now(),
      operations: log.operations,
      posts: all.filter(({ userId }) => own.has(userId)),
      users: stored.filter(({ _id }) => own.has(_id)),
      notifications: notifications.filter(({ userId }) => own.has(userId)),
      platforms: await Promise.all(
        platforms.map(async ({ platform, control }) => {
          const accounts = users.flatMap((user) => user.accounts.get(platform) ?? [])
          const names = new Set(accounts.map(({ account }) => account))
          const ids = new Set<string | null>(accounts.map(({ accountId }) => accountId))
          return {
            platform,
            ledger: (await control.ledger()).filter(({ account }) => names.has(account)),
            requests: (await control.requests()).filter(({ account }) => ids.has(account)),
          }
        }),
      ),
      outages: journal.outages.filter(({ until }) => until === null || until >= startedAt),
      exits: journal.exits.filter(({ at }) => at >= startedAt),
      canaries: secrets,
      documents: [
        document,
        await readHistories(world.temporalAddress, world.temporalNamespace, new Date(startedAt)),
        ...world.logsSince(marks),
      ],
      leaseMs: world.leaseMs,
    }
  }

  /** What the service keeps sealed for these users, opened. */
  const sealedSecrets = () =>
    readTokens(
      database,
      createTokenCipher(world.secrets.tokenEncryption),
      users.map(({ userId }) => userId),
    )

  return {
    startedAt,
    users,
    log,
    posts,
    evidence,

    /** Waits until everything is idle, or until a deadline. The judge then reports what is still active. */
    async rest(withinMs = REST_WITHIN_MS): Promise<void> {
      for (const end = Date.now() + withinMs; Date.now() < end; await delay(REST_POLL_MS)) {
        if ((await posts()).some(({ status }) => !FINAL.includes(status))) continue
        // The last notification is stored after the last status, and before the workflow ends.
        if ((await countRunning(world.temporalAddress, world.temporalNamespace)) === 0) return
      }
    },

    /** One sentence for every violation. */
    verdict: async (): Promise<string[]> => sentencesOf(judge(await evidence())),
  }
}

export type Session = Awaited<ReturnType<typeof openSession>>

interface LoggedIn {
  send: Send
  userId: string
  token: string
}

async function logIn(address: string, login: { email: string; password: string }): Promise<LoggedIn> {
  const { body } = await request(address, 'POST', '/api/auth/login', login)
  const { accessToken: token, user } = (body as { data: { accessToken: string; user: { _id: string } } }).data
  return { token, userId: user._id, send: (method, path, sent) => request(address, method, path, sent, token) }
}

const goTo = (url: string): Promise<string> => follow(url, AbortSignal.timeout(ANSWER_WITHIN_MS))

async function request(address: string, method: string, path: string, body?: object, token?: string): Promise<Answer> {
  // `fetch` would add headers of a browser, from which the API wants cookies.
  const response = await send(`${address}${path}`, {
    method,
    headers: {
      ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
    },
    signal: AbortSignal.timeout(ANSWER_WITHIN_MS),
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  })
  return { status: response.statusCode, body: await response.body.json() }
}
