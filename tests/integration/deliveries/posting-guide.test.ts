import { createServer } from 'node:http'
import sharp from 'sharp'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { closeServer, listenOnLoopback } from '../../../sandbox/platforms/listen.ts'
import type { Platform } from '../../../src/domain/shared/platforms.ts'
import { readCommands, runCommands } from '../../support/documented-commands.ts'
import { startPlatformsWorld, type PlatformsWorld } from '../../support/platforms-world.ts'
import { temporaryFolder } from '../../support/temporary-folder.ts'

/** The commands of docs/guide/posting.md, as they are written there. */

let site: { server: ReturnType<typeof createServer>; url: string }
let world: PlatformsWorld
let api: string
let user: Awaited<ReturnType<PlatformsWorld['user']>>

beforeAll(async () => {
  const picture = await sharp({ create: { width: 1_080, height: 1_920, channels: 3, background: 'teal' } })
    .jpeg()
    .toBuffer()
  const server = createServer((_, response) => response.end(picture))
  site = { server, url: await listenOnLoopback(server) }
  world = await startPlatformsWorld({
    ...{ WORKER_QUEUES: 'publishing,preparing,maintenance', ALLOWED_PRIVATE_SERVERS: site.url },
  })
  api = await world.app.listen({ host: '127.0.0.1', port: 0 })
  user = await world.user()
})
afterAll(async () => {
  await world?.stop()
  await closeServer(site.server)
})

async function run(heading: string, env: Record<string, string> = {}) {
  const output = await runCommands(
    readCommands('guide/posting.md', heading),
    { API: api, TOKEN: user.secrets.token, FILE: `${site.url}/dawn.jpg`, ...env },
    temporaryFolder(),
  )
  return JSON.parse(output).data
}

/** Runs the commands that create a post, and returns what each platform shows first. */
async function publish(heading: string): Promise<Record<string, unknown>> {
  const { postId, warnings = [] } = await run(heading)
  await user.until(postId)
  const entries = (await user.status(postId)).platformStatuses
  const shown = await Promise.all(
    entries.map(async ({ platform, status, error, parts }) => {
      const posts = await user.published(platform as Platform)
      return [platform, { status, error, parts: parts?.length ?? 0, posts }] as const
    }),
  )
  return { warnings: warnings.map(({ code }: { code: string }) => code), ...Object.fromEntries(shown) }
}

it('a post has another text on one platform', async () => {
  const { postId, status } = await run('Posting')
  expect(status).toBe('SCHEDULED')
  const { post } = (await user.call('GET', `/api/posts/${postId}`)).body.data
  expect(post.platformSpecificContent.mastodon.text).toBe('Hello from one place, with more room')
})

it('a thread is published, and joined where a platform has none', async () => {
  expect(await publish('Threads and first comments')).toMatchObject({
    warnings: ['JOINED', 'JOINED'],
    bluesky: { status: 'completed', parts: 4 },
    mastodon: { status: 'completed', parts: 4 },
    tumblr: { status: 'completed', parts: 0 },
  })
})

it('a link becomes a card', async () => {
  const { bluesky } = await publish('Links')
  expect(bluesky).toMatchObject({ status: 'completed' })
})

it('options of several platforms are published', async () => {
  const published = { status: 'completed', error: null }
  expect(await publish('Options')).toMatchObject({
    ...{ warnings: [], mastodon: published, bluesky: published, threads: published, tumblr: published },
  })
})

it('a file is named by its address, and published as a story after a hold', async () => {
  expect(await publish('Media')).toMatchObject({ instagram: { status: 'completed', posts: [{}] } })
})

it('a published post is edited, and taken back', async () => {
  const POST_ID = await user.post(['mastodon'], 'Before')
  await user.until(POST_ID)
  const entry = async () => (await user.status(POST_ID)).platformStatuses[0]!
  await run('Edit what is published', { POST_ID })
  await expect.poll(async () => (await entry()).revisions?.[0]?.status).toBe('completed')
  const texts = async () => (await user.published('mastodon')).map(({ text }) => text)
  expect(await texts()).toContain('Hello from one place, corrected')
  await run('Take back', { POST_ID })
  await expect.poll(async () => (await entry()).status).toBe('deleted')
  expect(await texts()).not.toContain('Hello from one place, corrected')
})
