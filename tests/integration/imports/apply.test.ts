import { once } from 'node:events'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { DAY, MINUTE } from '../../../src/domain/shared/times.ts'
import { ALL_QUEUES, poll, startDeliveryWorld, type DeliveryWorld } from '../../support/delivery-world.ts'
import { readCommands, runCommands } from '../../support/documented-commands.ts'
import { importClient } from '../../support/imports.ts'
import { createProcesses, waitForLogEntry } from '../../support/processes.ts'
import { temporaryFolder } from '../../support/temporary-folder.ts'

let world: DeliveryWorld
beforeAll(async () => {
  world = await startDeliveryWorld(ALL_QUEUES)
})
afterAll(() => world?.stop())

const START = Date.now() + DAY
const rows = (count: number) =>
  Array.from({ length: count }, (_, index) => ({
    content: { text: `Post ${index}` },
    selectedPlatforms: ['bluesky'],
    scheduledAt: new Date(START + index * 10 * MINUTE).toISOString(),
  }))

async function planned(count: number) {
  const user = await world.user()
  const client = importClient(world.app, { headers: { authorization: `Bearer ${user.secrets.token}` } })
  const { body } = await client.sendJson(rows(count))
  const id = body.data.id as string
  const move = (name: string) => client.call('POST', `/api/imports/${id}/${name}`)
  const until = (isThere: (found: { state: string; counts: Record<string, number> }) => boolean) =>
    poll(() => client.read(id), isThere, MINUTE)
  const created = (count: number) => until(({ counts }) => counts['created']! >= count)
  const completed = () => until(({ state }) => state === 'completed')
  const texts = async () =>
    (await Array.fromAsync(world.context.posts.allOf(user.userId))).map(({ content }) => content.text).toSorted()
  return { userId: user.userId, id, client, move, until, created, completed, texts }
}

const expectedTexts = (count: number) =>
  rows(count)
    .map(({ content }) => content.text)
    .toSorted()

it('an import is paused and resumed while its posts are created, and creates each once', async () => {
  const one = await planned(60)
  await one.move('apply')
  await one.created(25)
  expect((await one.move('pause')).body.data.state).toBe('paused')
  expect((await one.move('resume')).body.data.state).toBe('applying')
  await one.completed()
  expect(await one.texts()).toEqual(expectedTexts(60))
})

it('an import of many rows does not hold up the import of another user', async () => {
  const [large, small] = [await planned(250), await planned(5)]
  await large.move('apply')
  await large.created(25)
  await small.move('apply')
  await small.completed()
  expect(await large.client.read(large.id)).toMatchObject({ state: 'applying' })
  expect(await large.move('cancel')).toMatchObject({ status: 200 })
})

it('the commands of the guide schedule the posts of a file and export them', async () => {
  const user = await world.user()
  const api = await world.app.listen({ host: '127.0.0.1', port: 0 })
  const commands = readCommands('guide/imports.md', 'Schedule posts from a CSV file')
  const env = { TOKEN: user.secrets.token }
  const output = await runCommands(
    `${commands.replace('http://localhost:4000', api)}\ncat export.csv`,
    env,
    temporaryFolder(),
  )
  expect(output).toContain('"counts":{"ready":2')
  expect(output.match(/2090-05-0\dT07:30:00\.000Z/g)).toHaveLength(2)
  expect(output).toContain('"Good morning, Bluesky"')
})

// The last test: it replaces the workers of this process.
it('a worker that is killed in the middle of an import leaves each post created exactly once', async () => {
  const processes = createProcesses()
  const startWorker = async () => {
    const worker = processes.start('src/worker.ts', { ...world.context.config, LOG_LEVEL: 'info' })
    worker.stderr!.resume()
    await waitForLogEntry(worker, 'worker ready')
    return worker
  }
  try {
    const [worker, one] = await Promise.all([startWorker(), planned(120), world.stopWorkers()])
    await one.move('apply')
    await one.created(25)
    worker.kill('SIGKILL')
    await once(worker, 'exit')
    const { counts } = await one.client.read(one.id)
    expect(counts.created).toBeLessThan(120)
    await startWorker()
    await one.completed()
    expect(await one.texts()).toEqual(expectedTexts(120))
    const user = await world.context.users.findById(one.userId)
    expect(user!.usage.postsCreated).toBe(120)
  } finally {
    processes.killAll()
  }
})
