import { setTimeout as delay } from 'node:timers/promises'
import { toTarget, type Target } from '../../src/domain/posts/targets.ts'
import { beginFault, planFaults, type FaultEvent } from './faults.ts'
import type { Client } from './client.ts'
import type { PostInput } from './judge/evidence.ts'
import type { Answer } from './operations.ts'
import { createRandom } from './random.ts'
import { openSession, type Session, type SessionUser } from './session.ts'
import { furtherOn, planWorkload, type Step } from './workload.ts'
import type { FaultCluster } from './cluster.ts'

export interface RunSize {
  users: number
  posts: number
  faults: number
  lengthMs: number
}

export const USUAL_SIZE: RunSize = { users: 4, posts: 40, faults: 8, lengthMs: 15_000 }

const REPEAT_AFTER_MS = 500
const MAX_REPEATS = 60

export interface RunReport {
  seed: number
  violations: string[]
  posts: number
  requests: number
  faults: string[]
  seconds: number
}

/** Runs one seed, which determines the workload and the faults. The judge runs once everything is idle. */
export async function runSeed(cluster: FaultCluster, seed: number, size: RunSize = USUAL_SIZE): Promise<RunReport> {
  const startedAt = Date.now()
  const { journal } = cluster
  const random = createRandom(seed)
  const steps = planWorkload(random, { ...size, apis: cluster.addresses.length, platforms: cluster.platforms })
  const faults = planFaults(random, {
    count: size.faults,
    lengthMs: size.lengthMs,
    platforms: cluster.platforms.length,
  })
  const session = await openSession(cluster, { users: size.users, withFurtherAccounts: true, withWebhooks: true })
  journal.write({ seed, size, plan: faults })

  const clock = createClock()
  const workload = runSteps(steps, session, clock)
  const injections = faults.map((event) => injectFault(event, cluster, session, clock))
  await clock.waitUntil(size.lengthMs)
  await Promise.all(injections)
  await cluster.heal()
  journal.write({ healed: true })
  await workload
  await session.waitUntilIdle()
  await retryFailed(session)
  await session.waitUntilIdle()
  journal.write({ idle: true })
  const violations = [...(await session.verdict()), ...(await findUnsentPosts(session))]
  journal.write({ seed, violations })
  return {
    seed,
    violations,
    posts: size.posts,
    requests: session.log.operations.length,
    faults: faults.map(({ name }) => name),
    seconds: Math.round((Date.now() - startedAt) / 1_000),
  }
}

type Clock = ReturnType<typeof createClock>

function createClock() {
  const startedAt = Date.now()
  return { waitUntil: (ms: number): Promise<void> => delay(Math.max(0, startedAt + ms - Date.now())) }
}

async function injectFault(event: FaultEvent, cluster: FaultCluster, session: Session, clock: Clock): Promise<void> {
  await clock.waitUntil(event.atMs)
  cluster.journal.write({ event })
  try {
    const revert = await beginFault(event, cluster, session)
    await clock.waitUntil(event.atMs + event.lastsMs)
    await revert?.()
  } catch (error) {
    // Another fault may interfere, such as a MongoDB outage while a worker starts. `heal` repairs that.
    cluster.journal.write({ event: event.name, failed: String(error) })
  }
}

/** Runs every step at its time. The later steps of a post wait for the response to its create, which has the id. */
async function runSteps(steps: Step[], session: Session, clock: Clock): Promise<void> {
  const created = new Map<number, Promise<string | null>>()
  await Promise.all(
    steps.map(async (step) => {
      const { action, post, atMs } = step
      const user = session.users[step.user]!
      const clientFor = (attempt: number) => user.clientFor(step.api + attempt)
      if (action.kind === 'create') {
        const creating = clock
          .waitUntil(atMs)
          .then(() => create(clientFor, withDueTime(withIds(action.input, user), action.inMs)))
        created.set(post, creating)
        await creating
        return
      }
      await clock.waitUntil(atMs)
      const postId = await created.get(post)
      if (!postId) return
      const client = clientFor(0)
      if (action.kind === 'edit') await client.edit(postId, withDueTime(action.input, action.inMs))
      else await client[action.kind](postId)
    }),
  )
}

/** Retries every failed post as its user would, after all faults have ended. */
export async function retryFailed({ users, readPosts }: Session): Promise<void> {
  for (const { _id, userId, status } of await readPosts()) {
    if (status !== 'FAILED' && status !== 'PARTIAL_SUCCESS') continue
    const client = users.find((user) => user.userId === userId)!.clientFor(0)
    await client.read(_id)
    await client.retry(_id)
  }
}

/** Facebook's refusal of the text that the page has published last. Posts with equal texts are part of every run. */
const EQUAL_TEXT = '506/1455006'

/** Returns a message for each delivery that failed again: without faults every retry must succeed, unless the platform has the text already. */
export async function findUnsentPosts({ readPosts }: Session): Promise<string[]> {
  return (await readPosts()).flatMap(({ _id, platformStatuses }) =>
    platformStatuses
      .filter(({ status, platformReason }) => status === 'failed' && platformReason?.code !== EQUAL_TEXT)
      .map((entry) => `post ${_id} was not sent to ${toTarget(entry)} by its retry: ${entry.errorCode}`),
  )
}

/**
 * Creates a post. A client with an idempotency key repeats the request until it gets a conclusive response.
 * @returns the post's id; null when the client does not know it
 */
async function create(clientFor: (attempt: number) => Client, input: PostInput): Promise<string | null> {
  for (let attempt = 0; ; attempt++) {
    const answer = await clientFor(attempt).create(input)
    if (isConclusive(answer) || input.idempotencyKey === undefined || attempt === MAX_REPEATS) {
      return (answer?.body as { data?: { postId: string } } | undefined)?.data?.postId ?? null
    }
    await delay(REPEAT_AFTER_MS)
  }
}

/** Replaces what stands for the further accounts by their ids. */
function withIds({ accounts, overrides, ...input }: PostInput, user: SessionUser): PostInput {
  const ids = new Map([...user.further].map(([platform, { id }]) => [furtherOn(platform), id]))
  const toId = (target: Target): Target => ids.get(target) ?? target
  return {
    ...input,
    ...(accounts && { accounts: accounts.map(toId) }),
    ...(overrides && {
      overrides: Object.fromEntries(Object.entries(overrides).map(([target, text]) => [toId(target), text])),
    }),
  }
}

const isConclusive = (answer: Answer | null): boolean => answer !== null && answer.status < 500

function withDueTime(input: PostInput, inMs: number | null | undefined): PostInput {
  if (inMs === undefined) return input
  return { ...input, scheduledAt: inMs === null ? null : Date.now() + inMs }
}
