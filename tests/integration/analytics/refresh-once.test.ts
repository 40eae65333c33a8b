import { afterAll, beforeAll, expect, it } from 'vitest'
import { freePort } from '../../../sandbox/servers/process.ts'
import { startWorkers } from '../../../src/worker/create-workers.ts'
import { createProcesses, waitForLogEntry } from '../../support/processes.ts'
import { startMastodonWorld, type MastodonWorld } from './mastodon-world.ts'
import { openTestSession } from '../../support/sessions.ts'

const processes = createProcesses()
let world: MastodonWorld
let workers: Awaited<ReturnType<typeof startWorkers>>
let apis: string[]
beforeAll(async () => {
  world = await startMastodonWorld()
  ;[workers, apis] = await Promise.all([startWorkers(world.context), Promise.all([startApi(), startApi()])])
})
afterAll(async () => {
  processes.killAll()
  await workers?.stop()
  await world?.close()
})

async function startApi(): Promise<string> {
  const port = await freePort()
  const child = processes.start('src/server.ts', world.context.config, { PORT: String(port), LOG_LEVEL: 'info' })
  child.stderr!.resume()
  await waitForLogEntry(child, 'api ready')
  return `http://127.0.0.1:${port}`
}

async function createRefresher(userId: string) {
  const user = (await world.context.users.findById(userId))!
  const { accessToken } = await openTestSession(world.context, user)
  return async (api: number, postId: string, query = '?platform=mastodon') => {
    const response = await fetch(`${apis[api % 2]}/api/analytics/posts/${postId}/refresh${query}`, {
      method: 'POST',
      headers: { authorization: `Bearer ${accessToken}` },
    })
    return { status: response.status, headers: response.headers, body: await response.json() }
  }
}

it('one of twenty concurrent refreshes over two processes succeeds, and the others are 429', async () => {
  const { userId, posts } = await world.author(2)
  const refresh = await createRefresher(userId)
  const responses = await Promise.all(Array.from({ length: 20 }, (_, index) => refresh(index, posts[index % 2]!._id)))
  const passed = responses.filter(({ status }) => status === 200)
  expect(passed).toHaveLength(1)
  expect(passed[0]!.body).toMatchObject({ success: true, data: { platform: 'mastodon' } })
  for (const { status, headers, body } of responses.filter((one) => one !== passed[0])) {
    expect(status).toBe(429)
    expect(body).toMatchObject({ message: 'Too many requests', bucket: 'analytics_refresh' })
    expect(Number(headers.get('retry-after'))).toBeGreaterThan(800)
  }
})

it('a rejected refresh does not use up the allowance, in either process', async () => {
  const { userId, posts } = await world.author(1)
  const [{ _id }] = posts as [(typeof posts)[0]]
  const refresh = await createRefresher(userId)
  const stranger = await createRefresher((await world.author(0)).userId)
  const refused = [
    await refresh(0, _id, '?platform='),
    await refresh(1, _id, '?platform=elsewhere'),
    await refresh(0, _id, '?platform=bluesky'),
    await refresh(1, 'no-such-post'),
    await stranger(0, _id),
  ]
  expect(refused.map(({ status }) => status)).toEqual([400, 400, 400, 404, 404])
  expect(await refresh(1, _id)).toMatchObject({ status: 200 })
})
