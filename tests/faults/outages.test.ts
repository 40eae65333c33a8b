import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { pathToFileURL } from 'node:url'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { insteadOf } from '../../sandbox/platforms/foreign-responses.ts'
import type { Platform } from '../../src/domain/shared/platforms.ts'
import { startFaultCluster, unique, type FaultCluster } from './cluster.ts'
import { marked } from './judge/evidence.ts'
import { openSession } from './session.ts'

const SECOND = 1_000
const MINUTE = 60 * SECOND
const DOWN_MS = 3 * MINUTE
const USERS = 3
const POSTS_PER_USER = 4
/** Until then a connection from before the outage may still serve. */
const IDLE_CONNECTION_MS = 6 * SECOND
/** Each of two workers probes ten times in three minutes, with a read or two; the first calls of each user fail, and are searched for. */
const MOST_CALLS = 100

const KINDS: Partial<Record<Platform, string>> = {
  facebook: 'connections are refused',
  threads: 'its name cannot be resolved',
  mastodon: 'a proxy answers with a 502',
  tumblr: 'it answers with a 503',
}
const PLATFORMS = Object.keys(KINDS) as Platform[]

const dir = mkdtempSync(join(tmpdir(), 'postonce-outages-'))
const down = join(dir, 'down')
const rename = (url: string, host: string) => url.replace('127.0.0.1', host)
let cluster: FaultCluster
beforeAll(async () => {
  cluster = await startFaultCluster({
    dir,
    env: ({ THREADS_GRAPH_URL: threads, FACEBOOK_GRAPH_URL: facebook }) => ({
      NODE_OPTIONS: `--import=${pathToFileURL(join(import.meta.dirname, 'faulty-names.ts')).href}`,
      FAULTY_NAMES_DOWN: down,
      THREADS_GRAPH_URL: rename(threads!, 'unresolved.test'),
      FACEBOOK_GRAPH_URL: rename(facebook!, 'refused.test'),
    }),
  })
}, 5 * MINUTE)
afterAll(async () => {
  await cluster?.stop()
  rmSync(dir, { recursive: true, force: true })
})

it(
  'three minutes without a platform fail and double no post, and all follow within two minutes',
  async () => {
    const session = await openSession(cluster, { users: USERS })
    const find = (name: Platform) => cluster.platforms.find(({ platform }) => platform === name)!
    await find('mastodon').control.fault({ action: insteadOf('a page with 502') })
    await find('tumblr').control.fault({ action: { status: 503, body: { meta: { status: 503, msg: 'Unavailable' } } } })
    writeFileSync(down, '')
    await delay(IDLE_CONNECTION_MS)
    const downAt = Date.now()
    const countCalls = async () =>
      Promise.all((['mastodon', 'tumblr'] as const).map(async (name) => (await find(name).control.requests()).length))
    const before = await countCalls()
    for (let number = 0; number < POSTS_PER_USER; number++) {
      for (const user of session.users) {
        for (const platform of PLATFORMS) {
          const answer = await user
            .clientFor(number)
            .create({ text: marked(unique('post'), 'late'), platforms: [platform] })
          expect(answer?.status).toBe(201)
        }
      }
    }
    await delay(downAt + DOWN_MS - Date.now())
    const open = await session.readPosts()
    expect(open).toHaveLength(USERS * POSTS_PER_USER * PLATFORMS.length)
    expect(open.filter(({ status }) => status !== 'PENDING' && status !== 'PROCESSING')).toEqual([])
    const calls = (await countCalls()).map((count, index) => count - before[index]!)
    rmSync(down)
    await Promise.all(cluster.platforms.map(({ control }) => control.clearFaults()))
    const backAt = Date.now()
    await session.waitUntilIdle()
    const posts = await session.readPosts()
    expect(posts.filter(({ status }) => status !== 'COMPLETED')).toEqual([])
    const delays = PLATFORMS.map((platform) => {
      const times = posts.flatMap(({ platformStatuses }) =>
        platformStatuses
          .filter((entry) => entry.platform === platform)
          .map(({ completedAt }) => completedAt!.getTime()),
      )
      return { platform, first: Math.min(...times) - backAt, last: Math.max(...times) - backAt }
    })
    for (const { platform, first, last } of delays) {
      expect(first, KINDS[platform]).toBeLessThan(2 * MINUTE)
      expect(last - first, KINDS[platform]).toBeLessThan(MINUTE)
    }
    expect(Math.max(...calls)).toBeLessThan(MOST_CALLS)
    expect(await session.verdict()).toEqual([])
  },
  10 * MINUTE,
)
