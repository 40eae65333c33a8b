import { expect, it } from 'vitest'
import { createBurst } from '../../../../src/activities/publishing/send-priority.ts'

it('lets records stand back until every send of the instant has ended, also by failing', async () => {
  const burst = createBurst(60_000)
  const log: string[] = []
  const [one, other] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  const sends = [burst.first(() => one.promise), burst.first(() => other.promise).catch(() => {})]
  const recorded = burst.over().then(() => log.push('recorded'))
  one.resolve()
  await sends[0]
  log.push('one is out')
  other.reject(new Error('no'))
  await recorded
  expect(log).toEqual(['one is out', 'recorded'])
})

it('lets nothing stand back for long, and at other times not at all', async () => {
  const burst = createBurst(1)
  await burst.over()
  const slow = Promise.withResolvers<void>()
  const sending = burst.first(() => slow.promise)
  await burst.over()
  slow.resolve()
  await sending
})
