import { expect, it } from 'vitest'
import { workByServer } from '../../../src/flow/lanes.ts'

const items = (server: string, count: number) => Array.from({ length: count }, (_, index) => `${server} ${index}`)
const toServer = (item: string) => item.split(' ')[0]!

it('workByServer works on some items of each server at a time, in their order, and on each item once', async () => {
  const started: string[] = []
  const release = Promise.withResolvers<void>()
  const done = workByServer([...items('slow', 5), ...items('other', 5)], { toServer, perServer: 2 }, async (item) => {
    started.push(item)
    if (toServer(item) === 'slow') await release.promise
    if (item === 'other 4') release.resolve()
  })
  expect(started).toEqual(['slow 0', 'slow 1', 'other 0', 'other 1'])
  await done
  expect(started.slice(0, 7)).toEqual(['slow 0', 'slow 1', ...items('other', 5)])
  expect(started.slice(7)).toEqual(['slow 2', 'slow 3', 'slow 4'])
})

it('workByServer throws the first failure after the other lanes have ended', async () => {
  const done: string[] = []
  const release = Promise.withResolvers<void>()
  const working = workByServer(
    ['broken 0', 'broken 1', ...items('other', 2)],
    { toServer, perServer: 1 },
    async (item) => {
      if (item === 'broken 0') {
        setTimeout(release.resolve)
        throw new Error(item)
      }
      await release.promise
      done.push(item)
    },
  )
  await expect(working).rejects.toThrow('broken 0')
  expect(done).toEqual(items('other', 2))
})
