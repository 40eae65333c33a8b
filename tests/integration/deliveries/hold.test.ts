import { afterAll, afterEach, beforeAll, expect, it } from 'vitest'
import { MINUTE } from '../../../src/domain/shared/times.ts'
import { startDeliveryWorld, type DeliveryWorld } from '../../support/delivery-world.ts'
import { createProcesses, waitForLogEntry } from '../../support/processes.ts'

/** Longer than an immediate post is armed, so that its workflow waits for a timer first. */
const HOLD_SECONDS = 20
const TIMEOUT_MS = 5 * MINUTE

const processes = createProcesses()
let world: DeliveryWorld

beforeAll(async () => {
  world = await startDeliveryWorld()
}, TIMEOUT_MS)
afterEach(() => processes.killAll())
afterAll(() => world?.stop())

it(
  'posts whose worker is killed during their hold are published once at its end, unless they are cancelled before',
  async () => {
    const user = await world.user()
    expect((await user.call('PUT', '/api/profile/change-hold', { holdSeconds: HOLD_SECONDS })).status).toBe(200)
    const startWorker = async () => {
      const worker = processes.start('src/worker.ts', world.context.config, { LOG_LEVEL: 'info' })
      await waitForLogEntry(worker, 'worker ready')
      return worker
    }
    await world.stopWorkers()
    const worker = await startWorker()
    const texts = ['Left alone', 'To edit', 'To cancel']
    const [alone, edited, cancelled] = await Promise.all(texts.map((text) => user.create({ content: { text } })))
    await world.context.startQueue.idle()
    await startWorker()
    worker.kill('SIGKILL')
    const answers = await Promise.all([
      user.call('POST', `/api/posts/${cancelled}/cancel`),
      user.call('PATCH', `/api/posts/${edited}`, { content: { text: 'Edited' } }),
    ])
    expect(answers.map(({ status }) => status)).toEqual([200, 200])
    expect(await user.published()).toEqual([])

    for (const postId of [alone!, edited!]) {
      expect(await user.until(postId)).toMatchObject({ status: 'COMPLETED', platformStatuses: [{ attemptCount: 1 }] })
      const { createdAt, dueAt, platformStatuses } = (await world.context.posts.find(postId))!
      expect(dueAt!.getTime()).toBe(createdAt.getTime() + HOLD_SECONDS * 1_000)
      expect(platformStatuses[0]!.completedAt!.getTime()).toBeGreaterThanOrEqual(dueAt!.getTime())
    }
    expect((await user.published()).map(({ text }) => text).toSorted()).toEqual(['Edited', 'Left alone'])
    expect(await user.status(cancelled!)).toMatchObject({ status: 'CANCELLED' })
  },
  TIMEOUT_MS,
)
