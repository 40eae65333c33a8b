import { expect, it } from 'vitest'
import { createStartSending } from '../../../../src/commands/notifications/start-sending.ts'
import type { NotificationRecord } from '../../../../src/store/notifications/notifications.ts'
import { partial } from '../../../support/partial.ts'

const waiting = (_id: string, userId: string): NotificationRecord => ({
  notification: partial({ _id, userId, push: { state: 'waiting' } }),
  mail: null,
})

it('the pushes of a user with thousands of notifications delay those of another user by the running starts alone', async () => {
  const order: string[] = []
  const ends: (() => void)[] = []
  const startSending = createStartSending({
    orchestrator: partial({
      startWork(_work, _id, { fairnessKey }) {
        order.push(fairnessKey)
        return new Promise((resolve) => ends.push(() => resolve(true)))
      },
    }),
    logger: partial({ warn: () => {} }),
  })
  startSending(Array.from({ length: 5_000 }, (_, index) => waiting(String(index), 'many')))
  startSending([waiting('one', 'one')])
  const running = order.length
  expect(running).toBeLessThan(100)
  ends.shift()!()
  await new Promise((resolve) => setImmediate(resolve))
  expect(order.slice(running)).toEqual(['one'])
})
