import { setTimeout as delay } from 'node:timers/promises'
import { createContext } from '../../src/context.ts'
import { newPost } from '../../src/domain/posts/post-moves.ts'
import { HOUR, SECOND } from '../../src/domain/shared/times.ts'
import { newId } from '../../src/store/shared/schema.ts'
import { watchForTemporalDataLoss } from '../../src/worker/temporal-data-loss.ts'
import { openWorkflows } from '../clients.ts'
import { figureOfRounds, type Figure } from '../figure.ts'
import { closedLoop, inTurns } from '../loops.ts'
import { INSTANT_PLATFORMS } from '../platforms.ts'
import { startChild } from '../processes.ts'
import { openBare } from '../sides.ts'
import type { World } from '../world.ts'

const LANES = 50
const POSTS_PER_INSERT = 500
const RECOVERED_WITHIN_MS = 600_000
const POLL_MS = 50
const AIM_SECONDS = 120

export interface RecoverySize {
  /** Number of scheduled posts without a workflow. */
  posts: number
  rounds: number
}

/**
 * Measures how long it takes until all scheduled posts have a workflow again after Temporal lost its data. A new namespace simulates
 * the loss: it has neither workflows nor Schedules. The baseline starts the same number of workflows with one timer each.
 */
export async function measureRecovery(world: World, { posts, rounds }: RecoverySize): Promise<Figure[]> {
  const seconds: Record<'ours' | 'bare', number[]> = { ours: [], bare: [] }
  await inTurns(['bare', 'ours'] as const, rounds, async (name) => {
    seconds[name].push(await (name === 'ours' ? recover(world, posts) : startBarely(world, posts)))
  })
  return [
    figureOfRounds({
      group: 'recovery',
      name: `${posts} scheduled posts under way again after Temporal lost its data`,
      unit: 's',
      ours: seconds.ours,
      baseline: seconds.bare,
      aim: { text: `at most ${AIM_SECONDS} s`, met: ({ ours }) => ours <= AIM_SECONDS },
      details: { 'the loss is noticed within, s': 10 },
    }),
  ]
}

async function recover(world: World, count: number): Promise<number> {
  const config = await world.config()
  const context = await createContext(config)
  await context.database.createSchema()
  await storeScheduledPosts(context, count)
  const worker = await startChild('worker', config, { env: { BENCH_BUNDLE: await world.bundle('ours') } })
  const { workflows, close } = await openWorkflows(config)
  try {
    const startedAt = performance.now()
    const stopWatching = watchForTemporalDataLoss(context)
    const isRecovered = async () => (await workflows.count(`WorkflowType = 'publishPost'`)).count >= count
    await Promise.race([until(isRecovered), worker.failed])
    stopWatching()
    return (performance.now() - startedAt) / SECOND
  } finally {
    await close()
    await worker.stop()
    await context.close()
  }
}

async function startBarely(world: World, count: number): Promise<number> {
  const bare = await openBare(world, { lanes: LANES })
  try {
    const startedAt = performance.now()
    await closedLoop(count, LANES, async (_index, lane) => {
      await bare.schedule(lane, Date.now() + HOUR)
    })
    return (performance.now() - startedAt) / SECOND
  } finally {
    await bare.stop()
  }
}

/** Stores posts that are due over the next hours, in the state after their workflows were started. */
async function storeScheduledPosts(
  { database, posts }: Awaited<ReturnType<typeof createContext>>,
  count: number,
): Promise<void> {
  const now = new Date()
  const all = Array.from({ length: count }, (_, index) => ({
    ...newPost(
      {
        _id: newId(),
        userId: newId(),
        content: { text: 'Waits for its instant', mediaItems: [] },
        platformSpecificContent: {},
        selectedPlatforms: [...INSTANT_PLATFORMS],
        scheduledAt: new Date(now.getTime() + HOUR + index * SECOND),
        timezone: 'UTC',
        correlationId: null,
        requestHash: null,
        metadata: { source: 'api' },
        draft: false,
      },
      now,
    ),
    startPending: false,
  }))
  for (let first = 0; first < all.length; first += POSTS_PER_INSERT) {
    await database.transaction((session) => posts.insert(all.slice(first, first + POSTS_PER_INSERT), session))
  }
}

async function until(condition: () => Promise<boolean>): Promise<void> {
  const giveUpAt = Date.now() + RECOVERED_WITHIN_MS
  while (!(await condition())) {
    if (Date.now() > giveUpAt) throw new Error('The workflows of some posts were not restarted in time')
    await delay(POLL_MS)
  }
}
