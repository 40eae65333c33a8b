import { expect, it } from 'vitest'
import { createStartPushes } from '../../../../src/commands/notifications/start-pushes.ts'
import { partial } from '../../../support/partial.ts'

it('the pushes of a user with thousands of notifications delay those of another user by the running starts alone', async () => {
  const order: string[] = []
  const ends: (() => void)[] = []
  const startPushes = createStartPushes({
    orchestrator: partial({
      startWork(_work, _id, { fairnessKey }) {
        order.push(fairnessKey)
        return new Promise((resolve) => ends.push(() => resolve(true)))
      },
    }),
    logger: partial({ warn: () => {} }),
  })
  startPushes(Array.from({ length: 5_000 }, (_, index) => ({ _id: String(index), userId: 'many' })))
  startPushes([{ _id: 'one', userId: 'one' }])
  const running = order.length
  expect(running).toBeLessThan(100)
  ends.shift()!()
  await new Promise((resolve) => setImmediate(resolve))
  expect(order.slice(running)).toEqual(['one'])
})
