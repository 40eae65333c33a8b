import { once } from 'node:events'
import { text } from 'node:stream/consumers'
import { expect, it } from 'vitest'
import { createJsonStream } from '../../../../src/api/shared/json-stream.ts'

const never = new AbortController().signal

async function* items(count: number, onEnd: () => void = () => {}) {
  try {
    for (let nth = 0; nth < count; nth += 1) yield { nth, words: 'x'.repeat(1_000) }
  } finally {
    onEnd()
  }
}

it('the stream writes the same as JSON.stringify, with arrays for iterables', async () => {
  const at = new Date('2026-03-01T12:00:00Z')
  const document = {
    message: 'Ünï"code"',
    data: { at, none: items(0), some: items(3), nothing: null, left: undefined, list: [1] },
  }
  const stream = await createJsonStream(document, never)
  expect(JSON.parse(await text(stream))).toEqual({
    message: 'Ünï"code"',
    data: {
      at: at.toISOString(),
      none: [],
      some: [0, 1, 2].map((nth) => ({ nth, words: 'x'.repeat(1_000) })),
      nothing: null,
      left: null,
      list: [1],
    },
  })
})

it('the stream does not read ahead of its reader', async () => {
  let made = 0
  async function* counted() {
    for await (const item of items(10_000)) {
      made += 1
      yield item
    }
  }
  const stream = await createJsonStream({ data: counted() }, never)
  await once(stream, 'readable')
  expect(made).toBeGreaterThan(0)
  expect(made).toBeLessThan(500)
  stream.destroy()
})

it('an early failure rejects, and a later failure aborts the stream', async () => {
  async function* failing(after: number) {
    yield* items(after)
    throw new Error('gone')
  }
  await expect(createJsonStream({ data: failing(2) }, never)).rejects.toThrow('gone')
  const stream = await createJsonStream({ data: failing(500) }, never)
  await expect(text(stream)).rejects.toThrow('gone')
})

it('the stream closes its iterables when its deadline passes or its reader leaves', async () => {
  const ended: string[] = []
  const deadline = new AbortController()
  const late = await createJsonStream({ data: items(10_000, () => ended.push('late')) }, deadline.signal)
  const left = await createJsonStream({ data: items(10_000, () => ended.push('left')) }, never)
  late.on('error', () => {})
  deadline.abort()
  left.destroy()
  await expect.poll(() => ended.toSorted()).toEqual(['late', 'left'])
})
