import { createPost } from '../../src/commands/posts/create-post.ts'
import { longestArmLeadMs } from '../../src/domain/posts/publish-plan.ts'
import type { Context } from '../../src/context.ts'
import { publishPostWorkflowId, type PublishPostResult } from '../../src/workflows/contract/publishing.ts'
import { openWorkflows } from '../clients.ts'
import { figure, type Aim, type Figure } from '../figure.ts'
import { openOurs } from '../sides.ts'
import { median } from '../stats.ts'
import { connectToBluesky, createUsers } from '../users.ts'
import type { World } from '../world.ts'

/** Time between two scheduled posts. */
const SPACING_MS = 500

export interface HistorySize {
  posts: number
}

/**
 * Measures the history length and the state transitions of a post to three platforms: the real Bluesky and two that respond immediately.
 */
export async function measureHistory(world: World, { posts }: HistorySize): Promise<Figure[]> {
  const ours = await openOurs(world, { lanes: 1 })
  const { context } = ours
  const { workflows, close } = await openWorkflows(context.config)
  const [user] = await createUsers(context, 1)
  if (!user) throw new Error('No user')

  async function publish(text: string, scheduledAt?: Date): Promise<Length> {
    const { data } = await createPost(context, {
      userId: user!._id,
      input: {
        content: { text },
        selectedPlatforms: ['bluesky', 'mastodon', 'threads'],
        ...(scheduledAt && { scheduledAt: scheduledAt.toISOString() }),
      },
      source: 'api',
      idempotency: null,
    })
    await context.startQueue.idle()
    const handle = workflows.getHandle(publishPostWorkflowId(data.postId))
    const { status } = (await handle.result()) as PublishPostResult
    if (status !== 'COMPLETED') throw new Error(`A post to three platforms ended as ${status}`)
    const { historyLength, raw } = await handle.describe()
    const { stateTransitionCount, historySizeBytes } = raw.workflowExecutionInfo ?? {}
    return {
      events: historyLength,
      transitions: Number(stateTransitionCount ?? 0),
      bytes: Number(historySizeBytes ?? 0),
    }
  }

  try {
    await connectToBluesky(context, world.bluesky, user)
    const immediate: Length[] = []
    const storedBefore = await countStoredBytes(context)
    for (let index = 0; index < posts; index++) immediate.push(await publish(`History ${index}`))
    const storedBytes = ((await countStoredBytes(context)) - storedBefore) / posts
    const dueAt = (index: number) => new Date(Date.now() + longestArmLeadMs(0) + index * SPACING_MS)
    const scheduled = await Promise.all(
      Array.from({ length: posts }, (_, index) => publish(`Scheduled history ${index}`, dueAt(index))),
    )
    return [
      // Including the event that sets the final search attributes.
      compare(
        `immediate post, three platforms, most of ${posts}`,
        immediate,
        {
          text: 'at most 21',
          met: ({ ours: most }) => most <= 21,
        },
        { 'MongoDB bytes a post': Math.round(storedBytes) },
      ),
      compare(`scheduled post, three platforms, most of ${posts}`, scheduled),
    ]
  } finally {
    await close()
    await ours.stop()
  }
}

interface Length {
  events: number
  /** What Temporal Cloud and the server's storage are sized by. */
  transitions: number
  bytes: number
}

/** The size of all records, before compression and without indexes. */
async function countStoredBytes({ database: { connection } }: Context): Promise<number> {
  return Number((await connection.db!.stats()).dataSize)
}

function compare(name: string, lengths: Length[], aim?: Aim, details: Figure['details'] = {}): Figure {
  const events = lengths.map((length) => length.events)
  return figure({
    group: 'history',
    name,
    unit: 'events',
    ours: Math.max(...events),
    ...(aim && { aim }),
    details: {
      median: median(events),
      each: events.join(' '),
      'state transitions, median': median(lengths.map(({ transitions }) => transitions)),
      'history bytes, median': median(lengths.map(({ bytes }) => bytes)),
      ...details,
    },
  })
}
