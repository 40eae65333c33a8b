import { setTimeout as delay } from 'node:timers/promises'
import { afterAccept } from '../../../sandbox/platforms/foreign-answers.ts'
import { marked } from '../judge/evidence.ts'
import type { Stage } from './stage.ts'

const SECOND = 1_000

/** Short scenarios. Each is clean with its guard in place. */
export const SCENARIOS = {
  async 'two workers deliver the same posts concurrently'(stage: Stage) {
    const posts = await createSome(stage, 4)
    await Promise.all(posts.flatMap((postId) => [stage.deliver(0, postId), stage.deliver(1, postId)]))
  },

  async 'a call reaches the platform after its repeat'(stage: Stage) {
    await stage.fault('publish', { delayMs: 4 * SECOND })
    const [postId] = await createSome(stage, 1)
    await stage.deliver(0, postId!)
    await delay(3 * SECOND)
  },

  async 'the answer to an accepted call is lost'(stage: Stage) {
    await stage.fault('publish', { dropAfterAccept: true })
    const [postId] = await createSome(stage, 1)
    await stage.deliver(0, postId!)
  },

  async 'another server answers an accepted call'(stage: Stage) {
    await stage.fault('publish', afterAccept('a page with 404'))
    const [postId] = await createSome(stage, 1)
    await stage.deliver(0, postId!)
  },

  async 'Temporal never receives a post'(stage: Stage) {
    stage.temporal.answers = false
    await createSome(stage, 1)
    stage.temporal.answers = true
    await stage.sweep(31 * SECOND)
    for (const postId of stage.temporal.started) await stage.deliver(0, postId)
  },

  async 'an ended delivery is ended again'(stage: Stage) {
    const [postId] = await createSome(stage, 1)
    await stage.deliver(0, postId!)
    await stage.deliver(1, postId!)
  },

  async 'ten creates at one below the allowance'(stage: Stage) {
    await stage.allow(1)
    await createAtOnce(stage, (number) => ({ text: marked(`c${number}`, 'one more') }))
    await deliverAll(stage)
  },

  async 'ten creates with one idempotency key'(stage: Stage) {
    await createAtOnce(stage, () => ({ text: marked('once', 'with a key'), idempotencyKey: 'the-key' }))
    await deliverAll(stage)
  },

  async 'a post is rescheduled to a later time while it is armed'(stage: Stage) {
    await whileArmed(stage, (postId) => stage.client().edit(postId, { scheduledAt: Date.now() + 5 * SECOND }))
  },

  async 'a post is cancelled while it is armed'(stage: Stage) {
    await whileArmed(stage, (postId) => stage.client().cancel(postId))
  },

  async 'a post is deleted while it is armed'(stage: Stage) {
    await whileArmed(stage, (postId) => stage.client().delete(postId))
  },

  async 'a post is edited while it is armed'(stage: Stage) {
    await whileArmed(stage, (postId, marker) => stage.client().edit(postId, { text: marked(marker, 'other words') }))
  },

  async 'the platform refuses a post'(stage: Stage) {
    await stage.fault('publish', { status: 400, body: { error: 'InvalidRequest', message: 'no' } })
    const [postId] = await createSome(stage, 1)
    await stage.deliver(0, postId!)
  },

  async 'posts are due with an expired access token'(stage: Stage) {
    const posts = await createSome(stage, 6)
    await stage.platform.control.expire(stage.account.accountId)
    stage.renewals.due = 1
    // Long enough for all callers to notice.
    await stage.fault('renew', { delayMs: SECOND })
    await Promise.all(posts.map((postId, number) => stage.deliver(number, postId)))
  },
  async 'a valid callback arrives five times concurrently'(stage: Stage) {
    const { callback, cookie } = await stage.beginConnect()
    stage.exchanges.due = 1
    await Promise.all(Array.from({ length: 5 }, (_, number) => stage.comeBack(number, callback, cookie)))
  },

  async 'a callback comes with another MAC'(stage: Stage) {
    const { callback, cookie } = await stage.beginConnect()
    const address = new URL(callback)
    const state = address.searchParams.get('state')!
    address.searchParams.set('state', `${state.slice(0, -43)}${'A'.repeat(43)}`)
    await stage.comeBack(0, address.href, cookie)
  },

  async 'a callback comes from another browser'(stage: Stage) {
    const [{ callback }, other] = [await stage.beginConnect(), await stage.beginConnect()]
    await stage.comeBack(0, callback, other.cookie)
  },
} satisfies Record<string, (stage: Stage) => Promise<void>>

/** Scenarios that count calls without an account, so that no other scenario may run concurrently. */
export const ALONE: ReadonlySet<ScenarioName> = new Set([
  'a valid callback arrives five times concurrently',
  'a callback comes with another MAC',
  'a callback comes from another browser',
])

export type ScenarioName = keyof typeof SCENARIOS

async function createSome(stage: Stage, count: number): Promise<string[]> {
  const posts: string[] = []
  for (let number = 0; number < count; number++) posts.push(await stage.create(marked(`p${number}`, 'hello')))
  return posts
}

async function createAtOnce(stage: Stage, wishOf: (number: number) => object): Promise<void> {
  await Promise.all(
    Array.from({ length: 10 }, (_, number) =>
      stage.client(number).create({ platforms: [stage.platform.platform], ...wishOf(number) }),
    ),
  )
}

async function deliverAll(stage: Stage): Promise<void> {
  const { posts } = await stage.evidence()
  await Promise.all(posts.map(({ _id }) => stage.deliver(0, _id)))
}

/**
 * An attempt waits for the due time. The change arrives after it has read the post for the last time. If the machine was too slow
 * the post is published unchanged, and another one gets more time.
 */
async function whileArmed(stage: Stage, change: (postId: string, marker: string) => Promise<unknown>): Promise<void> {
  for (const leadMs of [3 * SECOND, 6 * SECOND, 12 * SECOND]) {
    const dueAt = Date.now() + leadMs
    const marker = `armed-${leadMs}`
    const postId = await stage.create(marked(marker, 'hello'), { scheduledAt: dueAt })
    const delivering = stage.deliver(0, postId)
    await Promise.race([stage.untilArmed(dueAt), delivering])
    if (Date.now() < dueAt) await change(postId, marker)
    const isInTime = Date.now() < dueAt
    await delivering
    if (isInTime) return
  }
  throw new Error('The machine was too slow for this scenario')
}
