import { expect, it } from 'vitest'
import { createSendPriority } from '../../../../src/activities/publishing/send-priority.ts'

it('lets records stand back until every send of the instant has ended, also by failing', async () => {
  const burst = createSendPriority(60_000)
  const log: string[] = []
  const [one, other] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  const sends = [burst.send(() => one.promise), burst.send(() => other.promise).catch(() => {})]
  const recorded = burst.whenIdle().then(() => log.push('recorded'))
  one.resolve()
  await sends[0]
  log.push('one is out')
  other.reject(new Error('no'))
  await recorded
  expect(log).toEqual(['one is out', 'recorded'])
})

it('lets nothing stand back for long, and at other times not at all', async () => {
  const burst = createSendPriority(1)
  await burst.whenIdle()
  const slow = Promise.withResolvers<void>()
  const sending = burst.send(() => slow.promise)
  await burst.whenIdle()
  slow.resolve()
  await sending
})
