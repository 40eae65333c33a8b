import { expect, it, vi } from 'vitest'
import { batchLoader, batcher, keyedBatcher } from '../../../../src/store/shared/batching.ts'

it('items that arrive while a batch is applied share the next batch', async () => {
  const batches: number[][] = []
  const first = Promise.withResolvers<void>()
  const apply = batcher<number, number>(async (items, settle) => {
    batches.push(items)
    if (batches.length === 1) await first.promise
    items.forEach((item, index) => settle(index, item * 2))
  })
  const one = apply(1)
  await expect.poll(() => batches).toHaveLength(1)
  const others = [apply(2), apply(3)]
  first.resolve()
  expect(await Promise.all([one, ...others])).toEqual([2, 4, 6])
  expect(batches).toEqual([[1], [2, 3]])
})

it('a hanging batch does not block the next one', async () => {
  const hanging = Promise.withResolvers<void>()
  const read = batchLoader<{ id: string }>(
    async (ids) => {
      if (ids.includes('slow')) await hanging.promise
      return ids.map((id) => ({ id }))
    },
    ({ id }) => id,
  )
  const slow = read('slow')
  const quick = await new Promise((resolve) => setImmediate(() => resolve(read('quick'))))
  expect(quick).toEqual({ id: 'quick' })
  hanging.resolve()
  expect(await slow).toEqual({ id: 'slow' })
})

it('a failed batch rejects its own items only', async () => {
  const apply = batcher<string, string>(async (items, settle) => {
    if (items.includes('bad')) throw new Error('no')
    items.forEach((item, index) => settle(index, item === 'refused' ? new Error('refused') : item))
  }, 2)
  const results = await Promise.allSettled(['good', 'bad', 'refused', 'fine'].map(apply))
  expect(results.map((result) => (result.status === 'fulfilled' ? result.value : result.reason.message))).toEqual([
    'no',
    'no',
    'refused',
    'fine',
  ])
})

it('a batch loader reads each record once for concurrent callers, and returns null for missing ones', async () => {
  const loaded: string[][] = []
  const read = batchLoader<{ id: string }>(
    async (ids) => {
      loaded.push(ids)
      return ids.filter((id) => id !== 'missing').map((id) => ({ id }))
    },
    ({ id }) => id,
  )
  expect(await Promise.all([read('a'), read('missing'), read('a')])).toEqual([{ id: 'a' }, null, { id: 'a' }])
  expect(loaded).toEqual([['a', 'missing']])
})

it('changes of one record stay in order and separate from those of other records', async () => {
  const log: string[] = []
  const gate = Promise.withResolvers<void>()
  const apply = keyedBatcher<void, string>(async (key, items, settle) => {
    log.push(`${key}: ${items.join()}`)
    if (key === 'a' && items.includes('1')) await gate.promise
    items.forEach((_, index) => settle(index, undefined))
  })
  const first = apply('a', '1')
  await expect.poll(() => log).toEqual(['a: 1'])
  const second = apply('a', '2')
  await apply('b', '1')
  gate.resolve()
  await Promise.all([first, second])
  expect(log).toEqual(['a: 1', 'b: 1', 'a: 2'])
})

it('a batch that never ends is abandoned, and the next batch of its record runs', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
  try {
    const begun: string[][] = []
    const apply = keyedBatcher<string, string>(async (_, items, settle) => {
      begun.push(items)
      if (items.includes('lost')) await new Promise(() => {})
      items.forEach((item, index) => settle(index, item))
    })
    const read = batchLoader<{ id: string }>(
      () => new Promise(() => {}),
      ({ id }) => id,
    )
    const outcomes = Promise.allSettled([apply('a', 'lost'), read('lost')])
    await new Promise((resolve) => setImmediate(() => setImmediate(resolve)))
    const next = apply('a', 'next')
    expect(begun).toEqual([['lost']])
    await vi.advanceTimersByTimeAsync(60_000)
    const late = { status: 'rejected', reason: expect.objectContaining({ name: 'MongoOperationTimeoutError' }) }
    expect(await outcomes).toEqual([late, late])
    expect(await next).toBe('next')
  } finally {
    vi.useRealTimers()
  }
})
