import { marked } from '../judge/evidence.ts'
import type { InProcessCluster } from './in-process-cluster.ts'

const SECOND = 1_000

/** Short scenarios. None violates an invariant while its guard is in place. */
export const SCENARIOS = {
  async 'two workers deliver the same posts concurrently'(cluster: InProcessCluster) {
    // On a busy machine the two deliveries of a single post may follow each other.
    const posts = await createPosts(cluster, 8)
    await Promise.all(posts.flatMap((postId) => [cluster.deliver(0, postId), cluster.deliver(1, postId)]))
  },

  async 'the response to an accepted call is lost'(cluster: InProcessCluster) {
    await cluster.fault('publish', { dropAfterAccept: true })
    const [postId] = await createPosts(cluster, 1)
    await cluster.deliver(0, postId!)
  },

  async 'processes end before they relay events'(cluster: InProcessCluster) {
    await cluster.stopRelays()
    const [postId] = await createPosts(cluster, 1)
    await cluster.deliver(0, postId!)
    await cluster.sweep(31 * SECOND)
  },

  async 'four sweepers relay the same events'(cluster: InProcessCluster) {
    await cluster.stopRelays()
    const [postId] = await createPosts(cluster, 1)
    await cluster.deliver(0, postId!)
    await cluster.sweep(31 * SECOND, 4)
  },

  async 'an ended delivery is ended again'(cluster: InProcessCluster) {
    const [postId] = await createPosts(cluster, 1)
    await cluster.deliver(0, postId!)
    await cluster.deliver(1, postId!)
  },

  async 'ten creates arrive at one below the allowance'(cluster: InProcessCluster) {
    await cluster.setMaxPosts(1)
    await createConcurrently(cluster, (number) => ({ text: marked(`c${number}`, 'one more') }))
    await deliverAll(cluster)
  },

  async 'ten creates arrive with one idempotency key'(cluster: InProcessCluster) {
    await createConcurrently(cluster, () => ({ text: marked('once', 'with a key'), idempotencyKey: 'the-key' }))
    await deliverAll(cluster)
  },

  async 'the database is restored from a backup'(cluster: InProcessCluster) {
    const [postId] = await createPosts(cluster, 1)
    await cluster.restoreAfter(() => cluster.deliver(0, postId!))
    await cluster.deliver(1, postId!)
  },

  async 'a post is deleted while it is armed'(cluster: InProcessCluster) {
    await deleteWhileArmed(cluster)
  },

  async 'posts are due with an expired access token'(cluster: InProcessCluster) {
    const posts = await createPosts(cluster, 6)
    await cluster.platform.control.expire(cluster.account.accountId)
    cluster.renewals.expected = 1
    // Delays the renewal until all deliveries have found the token expired.
    await cluster.fault('renew', { delayMs: SECOND })
    await Promise.all(posts.map((postId, number) => cluster.deliver(number, postId)))
  },

  async 'a valid callback arrives five times concurrently'(cluster: InProcessCluster) {
    const { callback, cookie } = await cluster.beginConnect()
    cluster.exchanges.expected = 1
    await Promise.all(Array.from({ length: 5 }, (_, number) => cluster.openCallback(number, callback, cookie)))
  },

  async 'a callback comes with another MAC'(cluster: InProcessCluster) {
    const { callback, cookie } = await cluster.beginConnect()
    const address = new URL(callback)
    const state = address.searchParams.get('state')!
    address.searchParams.set('state', `${state.slice(0, -43)}${'A'.repeat(43)}`)
    await cluster.openCallback(0, address.href, cookie)
  },

  async 'a callback comes from another browser'(cluster: InProcessCluster) {
    const [{ callback }, other] = [await cluster.beginConnect(), await cluster.beginConnect()]
    await cluster.openCallback(0, callback, other.cookie)
  },
} satisfies Record<string, (cluster: InProcessCluster) => Promise<void>>

/** Scenarios that run without any other, because they count calls that name no account. */
export const EXCLUSIVE_SCENARIOS: ReadonlySet<ScenarioName> = new Set([
  'a valid callback arrives five times concurrently',
  'a callback comes with another MAC',
  'a callback comes from another browser',
])

export type ScenarioName = keyof typeof SCENARIOS

async function createPosts(cluster: InProcessCluster, count: number): Promise<string[]> {
  const posts: string[] = []
  for (let number = 0; number < count; number++) posts.push(await cluster.create(marked(`p${number}`, 'hello')))
  return posts
}

async function createConcurrently(cluster: InProcessCluster, buildInput: (number: number) => object): Promise<void> {
  await Promise.all(
    Array.from({ length: 10 }, (_, number) =>
      cluster.client(number).create({ platforms: [cluster.platform.platform], ...buildInput(number) }),
    ),
  )
}

async function deliverAll(cluster: InProcessCluster): Promise<void> {
  const { posts } = await cluster.gatherEvidence()
  await Promise.all(posts.map(({ _id }) => cluster.deliver(0, _id)))
}

/**
 * Deletes a post after its armed delivery has read it for the last time and before it is due. When the machine is too slow for
 * that, the post is published, and the next post has a longer lead.
 */
async function deleteWhileArmed(cluster: InProcessCluster): Promise<void> {
  for (const leadMs of [3 * SECOND, 6 * SECOND, 12 * SECOND]) {
    const dueAt = Date.now() + leadMs
    const postId = await cluster.create(marked(`armed-${leadMs}`, 'hello'), { scheduledAt: dueAt })
    const delivering = cluster.deliver(0, postId)
    await Promise.race([cluster.waitUntilArmed(dueAt), delivering])
    if (Date.now() < dueAt) await cluster.client().delete(postId)
    const isInTime = Date.now() < dueAt
    await delivering
    if (isInTime) return
  }
  throw new Error('The machine was too slow for this scenario')
}
