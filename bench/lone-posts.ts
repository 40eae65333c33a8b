import { setTimeout as delay } from 'node:timers/promises'
import { createPost } from '../src/commands/posts/create-post.ts'
import type { Context } from '../src/context.ts'
import { SECOND } from '../src/domain/shared/times.ts'
import { longestArmLeadMs } from '../src/domain/posts/publish-plan.ts'
import { GIVE_UP_AFTER_MS, LOOK_FOR_DOUBLES_MS } from './bursts.ts'
import { assertFlawless, type Punctuality } from './punctuality.ts'
import { connectToBluesky, createUsers } from './users.ts'
import type { World } from './world.ts'

const SPACING_MS = 500

/**
 * Publishes scheduled posts one by one to the real Bluesky server. The arrival of a post is the time at which the fault proxy received
 * its write.
 */
export async function publishLonePosts(world: World, context: Context, count: number): Promise<Punctuality> {
  const [user] = await createUsers(context, 1)
  if (!user) throw new Error('No user')
  await connectToBluesky(context, world.bluesky, user)
  const startedAt = Date.now()
  const leadMs = longestArmLeadMs(0)
  const firstAt = startedAt + leadMs + 2 * SECOND
  const due = Array.from({ length: count }, (_, index) => ({
    id: `Lone ${user._id} ${index}`,
    dueAt: firstAt + index * SPACING_MS,
  }))
  for (const { id, dueAt } of due) {
    await createPost(context, {
      userId: user._id,
      input: { content: { text: id }, selectedPlatforms: ['bluesky'], scheduledAt: new Date(dueAt).toISOString() },
      source: 'api',
      idempotency: null,
    })
  }
  if (Date.now() > firstAt - leadMs) throw new Error('Creating the lone posts took too long')
  await delay(due.at(-1)!.dueAt - Date.now())
  const giveUpAt = Date.now() + GIVE_UP_AFTER_MS
  const arrivals = async () => (await writesOnBluesky(world)).filter((at) => at >= startedAt)
  while ((await arrivals()).length < count && Date.now() < giveUpAt) await delay(200)
  await delay(LOOK_FOR_DOUBLES_MS)
  const calls = (await arrivals()).toSorted((a, b) => a - b)
  const onServer = await textsOnBluesky(world)
  // The proxy does not report the post of a call. Posts are due half a second apart, so calls arrive in their order.
  const late = due.slice(0, calls.length).map(({ dueAt }, index) => calls[index]! - dueAt)
  const punctuality = {
    late,
    early: late.filter((ms) => ms < 0).length,
    twice:
      Math.max(0, calls.length - count) +
      due.filter(({ id }) => onServer.filter((text) => text === id).length > 1).length,
    lost: due.filter(({ id }) => !onServer.includes(id)).length,
  }
  assertFlawless(`${count} lone posts to Bluesky`, punctuality)
  return punctuality
}

async function writesOnBluesky(world: World): Promise<number[]> {
  const response = await fetch(`${world.bluesky.control}/requests`)
  const requests = (await response.json()) as { path: string; receivedAt: string }[]
  return requests
    .filter(({ path }) => path.startsWith('/xrpc/com.atproto.repo.putRecord'))
    .map(({ receivedAt }) => Date.parse(receivedAt))
}

async function textsOnBluesky(world: World): Promise<string[]> {
  const response = await fetch(`${world.bluesky.control}/ledger`)
  return ((await response.json()) as { text: string }[]).map(({ text }) => text)
}
