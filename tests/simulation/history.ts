import type { Content, Post } from '../../src/domain/posts/post.ts'
import type { Platform } from '../../src/domain/shared/platforms.ts'
import { marked, type Evidence, type PostInput, type StoredPost, type Violation } from '../faults/judge/evidence.ts'
import { judgeDeliveries } from '../faults/judge/judge.ts'
import { createOperationLog, type Answer } from '../faults/operations.ts'
import { createRandom, type Random } from '../faults/random.ts'
import { buildPost } from '../support/posts.ts'
import {
  createBluesky,
  createFacebook,
  createMastodon,
  createThreads,
  createTumblr,
  type SimulatedPlatform,
} from './platforms.ts'
import { createApi, createWorker, LEASE_MS, originOf, type Source } from './service.ts'
import { createTemporal } from './temporal.ts'
import { startVirtualTime } from './virtual-time.ts'
import { createWorld, OUTAGES, type Odds } from './world.ts'

/** A request of a client for its post, milliseconds after its create. */
export interface Change {
  kind: 'edit' | 'postpone' | 'cancel' | 'stop' | 'delete' | 'retry'
  at: number
}

export interface PlannedPost {
  platforms: Platform[]
  /** The marker that its text has in place of its own; equal posts share it. */
  marker?: string
  /** Milliseconds after the start of the history. */
  createdAt: number
  /** Milliseconds after its create; null for an immediate post. */
  scheduledIn: number | null
  /** The number of posts of a thread after the first. */
  segments: number
  hasComment: boolean
  changes: Change[]
}

/** A fault of a process or server, milliseconds after the start of the history. */
export interface Mishap {
  kind:
    | 'kill worker'
    | 'freeze worker'
    | 'drain worker'
    | 'kill API'
    | 'MongoDB is down'
    | 'Temporal is down'
    | 'platform is down'
  /** The index of the worker, or a number from which the platform and the kind of its outage follow. */
  which: number
  at: number
  lastsMs: number
}

export interface History {
  seed: number
  odds: Odds
  /** Whether the Mastodon server recognises repeats. */
  honoursKeys: boolean
  posts: PlannedPost[]
  mishaps: Mishap[]
  /** Nothing more goes wrong from then on, and new workers run. */
  faultsEndMs: number
}

export interface Outcome {
  violations: Violation[]
  evidence: Evidence
  /** The number of calls that met the outage of a platform. */
  callsWhileDown: number
  /** One line for each event. */
  trace: string[]
}

const PLATFORMS: Platform[] = ['bluesky', 'mastodon', 'tumblr', 'threads', 'facebook']
const POSTS = 10
const USERS = ['ann', 'bob']
const WORKERS = 2
export const START = Date.parse('2026-03-01T12:00:00.000Z')
const SECOND = 1_000
const FAULTS_END_MS = 90 * SECOND
/** All waits of a reconciliation together are shorter. */
const LONGEST_MS = 3 * 3_600 * SECOND
const LONGEST_OUTAGE_MS = 15 * SECOND
const SWEEP_EVERY_MS = 60 * SECOND
const LOOK_EVERY_MS = 5 * SECOND

/** Derives from a seed what clients do and what goes wrong. */
export function planHistory(seed: number): History {
  const random = createRandom(seed)
  const isCalm = random.chance(0.2)
  return {
    seed,
    odds: {
      call: random.oneOf([0, 0.05, 0.2, 0.5]),
      command: isCalm ? 0 : random.oneOf([0, 0.01, 0.05]),
      slow: random.oneOf([0, 0.05, 0.2, 0.4]),
    },
    honoursKeys: random.chance(0.5),
    posts: planPosts(random),
    mishaps: isCalm ? [] : Array.from({ length: random.between(0, 6) }, () => planMishap(random)),
    faultsEndMs: FAULTS_END_MS,
  }
}

/** In some histories a user sends the same text twice, to the same platforms and at nearly the same time. */
function planPosts(random: Random): PlannedPost[] {
  const posts = Array.from({ length: POSTS }, () => planPost(random))
  if (!random.chance(0.4)) return posts
  const first = random.between(0, POSTS - 1 - USERS.length)
  const twin = { ...posts[first]!, marker: 'twins' }
  const createdAt = twin.createdAt + random.between(0, 2 * SECOND)
  const { changes } = posts[first + USERS.length]!
  return posts.with(first, twin).with(first + USERS.length, { ...twin, createdAt, changes })
}

function planPost(random: Random): PlannedPost {
  const platforms = PLATFORMS.filter(() => random.chance(0.3))
  const scheduledIn = random.chance(0.5) ? random.between(2 * SECOND, 40 * SECOND) : null
  const changes: Change[] = []
  if (random.chance(0.5)) {
    const kind = random.oneOf(['edit', 'edit', 'postpone', 'cancel', 'stop', 'delete', 'retry'] as const)
    const around = scheduledIn ?? 0
    const at = random.chance(0.5) ? around + random.between(-1_500, 500) : random.between(0, around + 30 * SECOND)
    changes.push({ kind, at: Math.max(0, at) })
  }
  if (random.chance(0.2)) changes.push({ kind: 'retry', at: random.between(30 * SECOND, 100 * SECOND) })
  return {
    platforms: platforms.length > 0 ? platforms : [random.oneOf(PLATFORMS)],
    createdAt: random.between(0, 30 * SECOND),
    scheduledIn,
    segments: random.chance(0.3) ? random.between(1, 2) : 0,
    hasComment: random.chance(0.15),
    changes,
  }
}

/** Returns the content of a post, with the texts that platforms publish which join threads. */
function toContent(id: string, { marker = id, segments, hasComment }: PlannedPost, words: string) {
  const text = marked(marker, words)
  const further = Array.from({ length: segments }, (_, index) => marked(`${marker}-${index + 1}`, 'further words'))
  const comment = hasComment ? marked(`${marker}-comment`, 'a comment') : undefined
  const joined = [text, ...further].join('\n\n')
  const withComment = comment === undefined ? joined : `${joined}\n\n${comment}`
  const content: Content = {
    text,
    mediaItems: [],
    ...(segments > 0 && { segments: further.map((one) => ({ text: one, mediaItems: [] })) }),
    ...(comment !== undefined && { firstComment: comment }),
    onUnsupported: 'join',
  }
  const input: PostInput = {
    ...{ text, segments: further, overrides: { tumblr: withComment, facebook: joined } },
    ...(comment !== undefined && { firstComment: comment }),
  }
  return { content, input }
}

function planMishap(random: Random): Mishap {
  const kind = random.weighted({
    'kill worker': 4,
    'freeze worker': 3,
    'drain worker': 1,
    'kill API': 1,
    'MongoDB is down': 1,
    'Temporal is down': 1,
    'platform is down': 2,
  })
  return {
    kind,
    which: random.between(0, kind === 'platform is down' ? PLATFORMS.length * OUTAGES.length - 1 : WORKERS - 1),
    at: random.between(0, 60 * SECOND),
    lastsMs: random.between(200, 25 * SECOND),
  }
}

/**
 * Runs a history in virtual time and judges it. The same history of the same source always runs in the same way.
 * Nothing else may run in this process meanwhile.
 */
export async function runHistory(source: Source, history: History): Promise<Outcome> {
  const trace: string[] = []
  const note = (event: string) => trace.push(`${((Date.now() - START) / SECOND).toFixed(3).padStart(9)} ${event}`)
  const random = createRandom(history.seed * 7_919 + 1)
  const time = startVirtualTime(START, random)
  try {
    const simulation = createSimulation(source, history, random, note)
    await time.run(simulation.isDone, START + history.faultsEndMs + LONGEST_MS)
    const evidence = simulation.gatherEvidence()
    const violations = [...judgeDeliveries(evidence), ...judgeUnknownOutcomes(evidence)]
    return { violations, evidence, callsWhileDown: simulation.callsWhileDown(), trace }
  } finally {
    time.stop()
  }
}

/** I2, more strictly than for servers: every platform answers the last reconciliations, so no outcome stays unknown. */
function judgeUnknownOutcomes({ posts }: Evidence): Violation[] {
  return posts.flatMap(({ _id, platformStatuses }) =>
    platformStatuses
      .filter(({ errorCode }) => errorCode === 'OUTCOME_UNKNOWN')
      .map(({ platform }) => ({
        invariant: 'I2' as const,
        message: `post ${_id} ends with an unknown outcome, although ${platform} answers`,
      })),
  )
}

function createSimulation(
  source: Source,
  { odds, honoursKeys, posts, mishaps, faultsEndMs }: History,
  random: Random,
  trace: (event: string) => void,
) {
  const platforms = createPlatforms(honoursKeys)
  const world = createWorld({ random, odds, platforms, http: source.http, trace })
  const temporal = createTemporal(world, source.decisions, { random, trace })
  const surroundings = { source, world, temporal, platforms }
  const log = createOperationLog()
  const { sleep } = world
  const workers = Array.from({ length: WORKERS }, (_, index) => startWorker(`worker ${index + 1}`))
  let api = startApi()
  let isDone = false

  function startWorker(name: string) {
    const worker = createWorker(world.createProcess(name), surroundings)
    temporal.workers.add(worker)
    return worker
  }

  function startApi() {
    const process = world.createProcess('API')
    return { process, ...createApi(process, surroundings) }
  }

  function replaceWorker(index: number): void {
    const { process } = workers[index]!
    temporal.workers.delete(workers[index]!)
    process.kill()
    workers[index] = startWorker(process.name)
  }

  async function meet({ kind, which, at, lastsMs }: Mishap): Promise<void> {
    await sleep(at)
    const { process, drain } = workers[which % WORKERS]!
    switch (kind) {
      case 'kill worker':
        process.kill()
        await sleep(lastsMs)
        return replaceWorker(which)
      case 'freeze worker':
        process.freeze()
        await sleep(lastsMs)
        return process.thaw()
      case 'drain worker':
        trace(`${process.name} is drained`)
        drain()
        await sleep(lastsMs)
        return replaceWorker(which)
      case 'kill API':
        api.process.kill()
        await sleep(lastsMs)
        api = startApi()
        return
      case 'platform is down': {
        const platform = PLATFORMS[which % PLATFORMS.length]!
        const outage = OUTAGES[Math.floor(which / PLATFORMS.length)]!
        trace(`${platform} is down: ${outage}`)
        world.down.set(platform, outage)
        await sleep(lastsMs)
        world.down.delete(platform)
        return trace(`${platform} is back`)
      }
      case 'MongoDB is down':
      case 'Temporal is down': {
        const server = kind === 'MongoDB is down' ? 'mongo' : 'temporal'
        trace(kind)
        world.state[server] = false
        const outageMs = Math.min(lastsMs, LONGEST_OUTAGE_MS)
        await sleep(outageMs)
        world.state[server] = true
        if (server === 'temporal') temporal.afterOutage(outageMs)
        trace(`${server} is back`)
      }
    }
  }

  /** Sends a request to the API. Returns its status. */
  async function request(
    kind: 'create' | Change['kind'],
    post: Post,
    input: PostInput | undefined,
    send: () => Promise<unknown>,
  ) {
    const recorded = kind === 'postpone' ? 'edit' : kind
    const invocation = {
      kind: recorded,
      userId: post.userId,
      ...(kind !== 'create' && { postId: post._id }),
      ...(input && { input }),
    }
    const answer = await log.record(invocation, async (): Promise<Answer> => {
      await api.process.running()
      try {
        const changed = await send()
        if (kind === 'create') return { status: 201, body: { data: { postId: post._id } } }
        return { status: 200, body: kind === 'stop' ? { stopped: listStopped(changed as Post) } : {} }
      } catch (error) {
        const { statusCode, code } = error as { statusCode?: number; code?: string }
        return { status: statusCode ?? 503, body: { code } }
      }
    })
    trace(`${kind} of ${post._id} returns ${answer?.status}`)
    return answer?.status
  }

  async function act(planned: PlannedPost, number: number): Promise<void> {
    await sleep(planned.createdAt)
    const id = `post-${number}`
    const now = new Date()
    const { content, input: texts } = toContent(id, planned, 'first words')
    const scheduledAt = planned.scheduledIn === null ? null : new Date(now.getTime() + planned.scheduledIn)
    const fields = { _id: id, userId: USERS[number % USERS.length]!, content }
    const post = buildPost({ ...fields, selectedPlatforms: planned.platforms, scheduledAt }, now)
    const due = scheduledAt === null ? {} : { scheduledAt: scheduledAt.getTime() }
    const input = { ...texts, platforms: planned.platforms, ...due }
    const create = () => api.create(post)
    trace(
      `create of ${id} for ${planned.platforms.join(', ')}${scheduledAt ? `, due ${planned.scheduledIn} ms later` : ''}`,
    )
    const createdAt = Date.now()
    // Without a response a client does not know its post.
    if ((await request('create', post, input, create)) !== 201) return
    const changing = planned.changes.map(async (change) => {
      await sleep(Math.max(0, createdAt + change.at - Date.now()))
      await alter(planned, post, change)
    })
    await Promise.all(changing)
  }

  async function alter(planned: PlannedPost, post: Post, { kind }: Change): Promise<void> {
    const { _id: id, userId } = post
    switch (kind) {
      case 'edit': {
        const { content, input } = toContent(id, { ...planned, marker: id }, `other words ${Date.now() - START}`)
        return void (await request(kind, post, input, () => api.edit(userId, id, { content })))
      }
      case 'postpone': {
        const scheduledAt = Date.now() + 5 * SECOND
        const change = { scheduledAt: new Date(scheduledAt) }
        return void (await request(kind, post, { scheduledAt }, () => api.edit(userId, id, change)))
      }
      case 'stop': {
        const accountIds = listAccounts(id)
        return void (await request(kind, post, undefined, () => api.cancel(userId, id, accountIds)))
      }
      case 'cancel':
        return void (await request(kind, post, undefined, () => api.cancel(userId, id)))
      case 'delete':
        return void (await request(kind, post, undefined, () => api.delete(userId, id)))
      case 'retry':
        return void (await request(kind, post, undefined, () => api.retry(userId, id)))
    }
  }

  async function sweepRegularly(): Promise<never> {
    for (;;) {
      await sleep(SWEEP_EVERY_MS)
      const free = workers.filter(({ process }) => process.isUp && !process.isFrozen)
      if (free.length > 0 && world.state.temporal)
        void random
          .oneOf(free)
          .sweep()
          .catch(() => {})
    }
  }

  /** Ends every fault, and waits until each post has ended. */
  async function settle(): Promise<void> {
    await sleep(faultsEndMs)
    trace('nothing more goes wrong')
    Object.assign(world.state, { mongo: true, temporal: true, faults: false })
    world.down.clear()
    workers.forEach(({ process }) => process.thaw())
    workers.forEach((_, index) => replaceWorker(index))
    if (!api.process.isUp) api = startApi()
    while (!storedPosts().every(hasEnded) || !world.isQuiet()) await sleep(LOOK_EVERY_MS)
    // A call that is repeated by mistake would follow soon.
    await sleep(30 * SECOND)
    isDone = true
  }

  /** Returns the accounts that a client reads of a post. */
  const listAccounts = (id: string): string[] =>
    storedPosts()
      .filter((post) => post._id === id)
      .flatMap((post) => (post as unknown as Post).platformStatuses.flatMap(({ accountId }) => accountId ?? []))

  const storedPosts = (): StoredPost[] => [...(world.storage.get('posts')?.documents.values() ?? [])] as never

  for (const [number, planned] of posts.entries()) void act(planned, number)
  for (const mishap of mishaps) void meet(mishap)
  void sweepRegularly()
  void settle()

  return {
    isDone: () => isDone,
    callsWhileDown: world.callsWhileDown,

    gatherEvidence(): Evidence {
      return {
        at: Date.now(),
        operations: log.operations,
        posts: storedPosts(),
        ...{
          users: [],
          notifications: [],
          events: null,
          webhooks: [],
          outages: [],
          exits: [],
          canaries: [],
          documents: [],
        },
        platforms: platforms.map(({ platform, ledger }) => ({
          platform,
          ledger: ledger(),
          requests: world.calls.filter((call) => call.platform === platform),
        })),
        leaseMs: LEASE_MS,
      }
    },
  }
}

function createPlatforms(honoursKeys: boolean): SimulatedPlatform[] {
  return [
    createBluesky(originOf('bluesky')),
    createMastodon(originOf('mastodon'), { honoursKeys }),
    createTumblr(originOf('tumblr')),
    createThreads(originOf('threads')),
    createFacebook(originOf('facebook'), { withoutDrafts: 'facebook-bob' }),
  ]
}

function listStopped({ platformStatuses }: Post): Platform[] {
  return platformStatuses.flatMap(({ platform, errorCode, comment }) => {
    const code = comment?.status === 'failed' ? comment.errorCode : errorCode
    return code === 'CANCELLED' ? [platform] : []
  })
}

const hasEnded = ({ status }: StoredPost): boolean =>
  ['DRAFT', 'COMPLETED', 'PARTIAL_SUCCESS', 'FAILED', 'CANCELLED'].includes(status)
