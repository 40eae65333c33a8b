import { expect, it } from 'vitest'
import { storeInSlot } from '../../../../src/commands/posts/find-slots.ts'

const SLOT = { scheduledAt: 'next-slot' }

it('posts of one user that take slots are stored one after the other, and too many are refused', async () => {
  const gate = Promise.withResolvers<void>()
  const stored: number[] = []
  const store = (user: string, number: number, after = gate.promise) =>
    storeInSlot(user, SLOT, async () => {
      await after
      stored.push(number)
    })
  const queued = Array.from({ length: 101 }, (_, number) => store('one', number))
  await expect(store('one', 101)).rejects.toMatchObject({ code: 'RATE_LIMITED' })
  // Other users, and posts without a slot, do not wait.
  await store('two', 200, Promise.resolve())
  expect(await storeInSlot('one', { scheduledAt: null }, async () => 'stored')).toBe('stored')
  expect(stored).toEqual([200])
  gate.resolve()
  await Promise.all(queued)
  expect(stored).toEqual([200, ...queued.keys()])
})

it('a post that waits for its turn longer than its request is refused, and not stored later', async () => {
  const gate = Promise.withResolvers<void>()
  const first = storeInSlot('slow', SLOT, () => gate.promise)
  let isStored = false
  const second = storeInSlot('slow', SLOT, async () => void (isStored = true))
  await expect(second).rejects.toMatchObject({ code: 'RATE_LIMITED' })
  gate.resolve()
  await first
  await storeInSlot('slow', SLOT, async () => {})
  expect(isStored).toBe(false)
})
