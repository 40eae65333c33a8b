import { createPost } from '../../src/commands/posts/create-post.ts'
import { publishPostWorkflowId, type PublishPostResult } from '../../src/workflows/messages/publishing.ts'
import { openWorkflows } from '../clients.ts'
import { figure, type Figure } from '../figure.ts'
import { openOurs } from '../sides.ts'
import { median } from '../stats.ts'
import { connectToBluesky, createUsers } from '../users.ts'
import type { World } from '../world.ts'

export interface HistorySize {
  posts: number
}

/** Measures the history length of an immediate post to three platforms: the real Bluesky and two that respond immediately. */
export async function measureHistory(world: World, { posts }: HistorySize): Promise<Figure[]> {
  const ours = await openOurs(world, { lanes: 1 })
  const { context } = ours
  const { workflows, close } = await openWorkflows(context.config)
  try {
    const [user] = await createUsers(context, 1)
    if (!user) throw new Error('No user')
    await connectToBluesky(context, world.bluesky, user)
    const events: number[] = []
    for (let index = 0; index < posts; index++) {
      const { data } = await createPost(context, {
        userId: user._id,
        input: { content: { text: `History ${index}` }, selectedPlatforms: ['bluesky', 'mastodon', 'threads'] },
        source: 'api',
        idempotency: null,
      })
      await context.startQueue.idle()
      const handle = workflows.getHandle(publishPostWorkflowId(data.postId))
      const { status } = (await handle.result()) as PublishPostResult
      if (status !== 'COMPLETED') throw new Error(`A post to three platforms ended as ${status}`)
      events.push((await handle.describe()).historyLength)
    }
    return [
      figure({
        group: 'history',
        name: `immediate post, three platforms, most of ${posts}`,
        unit: 'events',
        ours: Math.max(...events),
        // Including the event that sets the final search attributes.
        aim: { text: 'at most 21', met: ({ ours: most }) => most <= 21 },
        details: { median: median(events), each: events.join(' ') },
      }),
    ]
  } finally {
    await close()
    await ours.stop()
  }
}
