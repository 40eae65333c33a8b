import { mkdir, writeFile } from 'node:fs/promises'
import { Client, Connection } from '@temporalio/client'
import { historyToJSON } from '@temporalio/common/lib/proto-utils.js'
import { startWorld } from '../../bench/world.ts'
import { createUsers } from '../../bench/users.ts'
import { cancelPost } from '../../src/commands/cancel-post.ts'
import { createPost } from '../../src/commands/create-post.ts'
import { retryPost } from '../../src/commands/retry-post.ts'
import { updatePost } from '../../src/commands/update-post.ts'
import { createContext } from '../../src/context.ts'
import { SECOND } from '../../src/domain/times.ts'
import type { Platform } from '../../src/domain/platforms.ts'
import type { PlatformAdapter } from '../../src/platforms/adapter.ts'
import { PlatformError } from '../../src/platforms/errors.ts'
import { startWorkers } from '../../src/workers.ts'
import { publishPostWorkflowId } from '../../src/workflows/messages.ts'

/**
 * Records what the workflows of today leave in Temporal, one file a way: `node scripts/run.mjs tests/histories/record.ts <version>`.
 * Files of earlier versions stay as they are: posts scheduled under them may still be waiting somewhere.
 */
const version = process.argv[2]
if (!version) throw new Error('Name the version the histories belong to, such as v1')
const folder = new URL(`./${version}/`, import.meta.url)
await mkdir(folder, { recursive: true })

/** Must not be found in any history: `replay.test.ts` looks for it. */
const RECORDED_TEXT = 'Words of a post, for its readers alone'
const refusing = new Set<string>()
const adapterOf = (platform: Platform): PlatformAdapter => ({
  platform,
  prepare: async () => {},
  async publish({ postId }) {
    if (platform === 'threads' && refusing.delete(postId)) {
      throw new PlatformError('validation', 'The platform refused the text', { certain: true })
    }
    return { platformPostId: `${platform}-${postId}`, platformPostUrl: `https://${platform}.example/${postId}` }
  },
  reconcile: async () => 'absent',
  profile: () => Promise.reject(new Error('not asked for here')),
})

const world = await startWorld()
const config = await world.config()
const context = await createContext(config, {
  platforms: { find: adapterOf, direct: () => null,
    redirect: () => null, warmUp: async () => {}, close: async () => {} },
})
await context.database.createIndexes()
const workers = await startWorkers(context)
const connection = await Connection.connect({ address: config.TEMPORAL_ADDRESS })
const client = new Client({ connection, namespace: config.TEMPORAL_NAMESPACE })

try {
  const [user] = await createUsers(context, 1)
  if (!user) throw new Error('No user')
  const userId = user._id
  const handleOf = (postId: string) => client.workflow.getHandle(publishPostWorkflowId(postId))

  const create = async (inSeconds: number | null, input: object = {}) => {
    const { data } = await createPost(context, {
      userId,
      input: {
        content: { text: RECORDED_TEXT },
        selectedPlatforms: ['mastodon', 'threads'],
        ...(inSeconds === null ? {} : { scheduledAt: new Date(Date.now() + inSeconds * SECOND).toISOString() }),
        ...input,
      },
      source: 'api',
      idempotency: null,
    })
    return data.postId
  }

  const record = async (name: string, postId: string) => {
    const status = (await handleOf(postId).result()) as string
    const history = await handleOf(postId).fetchHistory()
    // Worker identities name this machine, and nothing is decided by them.
    const json = historyToJSON(history).replaceAll(/"\d+@[^"]*"/g, '"recorder"')
    await writeFile(new URL(`${name}.json`, folder), `${json}\n`)
    process.stdout.write(`${name}: ${status}, ${history.events?.length} events\n`)
  }

  await record('immediate', await create(null))
  await record('scheduled', await create(14))

  const cancelled = await create(3_600)
  await cancelPost(context, userId, cancelled)
  await record('cancelled-while-waiting', cancelled)

  const armed = await create(9)
  await cancelPost(context, userId, armed)
  await record('cancelled-while-armed', armed)

  const moved = await create(3_600)
  const scheduledAt = new Date(Date.now() + 12 * SECOND).toISOString()
  await updatePost(context, { userId, postId: moved, update: { kind: 'patch', input: { scheduledAt } } })
  await record('rescheduled', moved)

  const terminated = await create(3_600)
  await handleOf(terminated).cancel()
  await record('cancelled-by-operator', terminated)

  const partial = await create(13)
  refusing.add(partial)
  await record('one-platform-refused', partial)
  await retryPost(context, userId, partial)
  await record('retried', partial)

  const image = { storageKey: `posts/${userId}/00000000-0000-4000-8000-000000000000.png`, mimeType: 'image/png' }
  const content = { text: RECORDED_TEXT, mediaItems: [image] }
  await record('prepared-ahead', await create(75, { content }))
} finally {
  await connection.close()
  await workers.stop()
  await context.close()
  await world.stop()
}
