import { expect, it } from 'vitest'
import { createFanoutGroups } from '../../../../src/activities/publishing/fanout-group.ts'

const { signal } = new AbortController()
const patient = { signal, maxWaitMs: 60_000 }

it('the deliveries of a post end together', async () => {
  const groups = createFanoutGroups()
  const log: string[] = []
  const slow = Promise.withResolvers<void>()
  const run = (name: string, work: Promise<void>) =>
    groups
      .run('post', patient, async () => {
        await work
        log.push(`${name} has done its work`)
      })
      .then(() => log.push(`${name} ends`))
  const both = [run('fast', Promise.resolve()), run('slow', slow.promise)]
  await expect.poll(() => log).toContain('fast has done its work')
  slow.resolve()
  await Promise.all(both)
  expect(log.indexOf('fast ends')).toBeGreaterThan(log.indexOf('slow has done its work'))
})

it('a delivery waits for a slow one no longer than the limit', async () => {
  const groups = createFanoutGroups()
  const slow = Promise.withResolvers<void>()
  const waiting = groups.run('post', patient, () => slow.promise)
  expect(await groups.run('post', { signal, maxWaitMs: 1 }, async () => 'done')).toBe('done')
  slow.resolve()
  await waiting
})

it('an aborted or failed delivery does not wait for the others', async () => {
  const groups = createFanoutGroups()
  const aborted = new AbortController()
  const slow = Promise.withResolvers<void>()
  const waiting = groups.run('post', patient, () => slow.promise)
  const first = groups.run('post', { ...patient, signal: aborted.signal }, async () => 'first')
  const failing = groups.run('post', patient, () => Promise.reject(new Error('no')))
  await expect(failing).rejects.toThrow('no')
  aborted.abort()
  expect(await first).toBe('first')
  slow.resolve()
  await waiting
})

it('deliveries of different posts do not wait for each other', async () => {
  const groups = createFanoutGroups()
  const slow = Promise.withResolvers<void>()
  const waiting = groups.run('one', patient, () => slow.promise)
  expect(await groups.run('another', patient, async () => 'done')).toBe('done')
  slow.resolve()
  await waiting
})
