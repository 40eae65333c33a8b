import { expect, it } from 'vitest'
import { createSendPriority } from '../../../src/flow/send-priority.ts'

it('records wait until every concurrent send has ended, even with an error', async () => {
  const priority = createSendPriority(60_000)
  const log: string[] = []
  const [one, other] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  const sends = [priority.send(() => one.promise), priority.send(() => other.promise).catch(() => {})]
  const recorded = priority.whenIdle().then(() => log.push('recorded'))
  one.resolve()
  await sends[0]
  log.push('one is sent')
  other.reject(new Error('no'))
  await recorded
  expect(log).toEqual(['one is sent', 'recorded'])
})

it('records wait for a limited time, and not at all when no send is running', async () => {
  const priority = createSendPriority(1)
  await priority.whenIdle()
  const slow = Promise.withResolvers<void>()
  const sending = priority.send(() => slow.promise)
  await priority.whenIdle()
  slow.resolve()
  await sending
})
