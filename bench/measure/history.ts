import { createPost } from '../../src/commands/create-post.ts'
import { createContext } from '../../src/context.ts'
import { publishPostWorkflowId } from '../../src/workflows/messages.ts'
import { openWorkflows } from '../clients.ts'
import { figure, type Figure } from '../figure.ts'
import { startChild } from '../processes.ts'
import { median } from '../stats.ts'
import { connectToBluesky, createUsers } from '../users.ts'
import type { World } from '../world.ts'

const POSTS = 5

/** How much Temporal has to keep of an immediate post to three platforms: the real Bluesky and two that answer at once. */
export async function measureHistory(world: World): Promise<Figure[]> {
  const config = await world.config()
  const context = await createContext(config)
  await context.database.createIndexes()
  const worker = await startChild('worker', config)
  const { workflows, close } = await openWorkflows(config)
  try {
    const [user] = await createUsers(context, 1)
    if (!user) throw new Error('No user')
    await connectToBluesky(context, world.bluesky, user)
    const events: number[] = []
    for (let index = 0; index < POSTS; index++) {
      const { data } = await createPost(context, {
        userId: user._id,
        input: { content: { text: `History ${index}` }, selectedPlatforms: ['bluesky', 'mastodon', 'threads'] },
        source: 'api',
        idempotency: null,
      })
      const handle = workflows.getHandle(publishPostWorkflowId(data.postId))
      const status = (await handle.result()) as string
      if (status !== 'COMPLETED') throw new Error(`A post to three platforms ended as ${status}`)
      events.push((await handle.describe()).historyLength)
    }
    return [
      figure({
        group: 'history',
        name: 'immediate post, three platforms',
        unit: 'events',
        ours: Math.max(...events),
        aim: { text: 'at most 20', met: ({ ours }) => ours <= 20 },
        details: { median: median(events), each: events.join(' ') },
      }),
    ]
  } finally {
    await close()
    await worker.stop()
    await context.close()
  }
}
