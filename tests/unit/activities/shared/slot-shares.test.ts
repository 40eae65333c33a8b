import { ApplicationFailure } from '@temporalio/activity'
import { expect, it } from 'vitest'
import { createSlotShares } from '../../../../src/activities/shared/slot-shares.ts'

it('a user with an equal share of the slots is retried later, and other users get a slot', async () => {
  const slots = createSlotShares(4)
  const gate = Promise.withResolvers<void>()
  const running = Array.from({ length: 3 }, () => slots.run('many', 1, () => gate.promise))
  const waits: number[] = []
  for (const attempt of [1, 2, 3, 100]) {
    const refused = await slots
      .run('many', attempt, () => Promise.reject(new Error('unexpected')))
      .catch((error: unknown) => error)
    expect(refused).toBeInstanceOf(ApplicationFailure)
    waits.push(Number((refused as ApplicationFailure).nextRetryDelay))
  }
  for (const [index, longest] of [2_000, 4_000, 8_000, 30_000].entries()) {
    expect(waits[index]).toBeGreaterThanOrEqual(longest / 2)
    expect(waits[index]).toBeLessThanOrEqual(longest)
  }
  expect(await slots.run('one', 1, async () => 'done')).toBe('done')
  gate.resolve()
  await Promise.all(running)
  expect(await slots.run('many', 5, async () => 'done')).toBe('done')
})
