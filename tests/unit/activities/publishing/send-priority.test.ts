import { expect, it } from 'vitest'
import { createSendPriority } from '../../../../src/activities/publishing/send-priority.ts'

it('records wait until every concurrent send has ended, even with an error', async () => {
  const burst = createSendPriority(60_000)
  const log: string[] = []
  const [one, other] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  const sends = [burst.send(() => one.promise), burst.send(() => other.promise).catch(() => {})]
  const recorded = burst.whenIdle().then(() => log.push('recorded'))
  one.resolve()
  await sends[0]
  log.push('one is sent')
  other.reject(new Error('no'))
  await recorded
  expect(log).toEqual(['one is sent', 'recorded'])
})

it('records wait for a limited time, and not at all when no send is running', async () => {
  const burst = createSendPriority(1)
  await burst.whenIdle()
  const slow = Promise.withResolvers<void>()
  const sending = burst.send(() => slow.promise)
  await burst.whenIdle()
  slow.resolve()
  await sending
})
