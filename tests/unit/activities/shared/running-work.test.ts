import { expect, it } from 'vitest'
import { createRunningWork } from '../../../../src/activities/shared/running-work.ts'

it('running work is found until it ends or fails', async () => {
  const running = createRunningWork<string>()
  const [ending, failing] = [Promise.withResolvers<string>(), Promise.withResolvers<string>()]
  running.add('ending', ending.promise)
  running.add('failing', failing.promise)
  expect(running.find('ending')).toBe(ending.promise)
  ending.resolve('done')
  failing.reject(new Error('no'))
  await running.ended()
  expect([running.find('ending'), running.find('failing')]).toEqual([undefined, undefined])
})

it('work that replaced another of the same key stays when the first one ends', async () => {
  const running = createRunningWork<string>()
  const second = Promise.withResolvers<string>()
  const first = Promise.resolve('first')
  running.add('post', first)
  running.add('post', second.promise)
  await first
  expect(running.find('post')).toBe(second.promise)
  second.resolve('second')
  expect(await running.find('post')).toBe('second')
})
