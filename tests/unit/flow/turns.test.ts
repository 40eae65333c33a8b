import { expect, it } from 'vitest'
import { createTurns } from '../../../src/flow/turns.ts'

function work(ms: number): void {
  for (const end = performance.now() + ms; performance.now() < end;);
}

it('work that calls for turns lets the event loop serve others by elapsed time', async () => {
  let served = 0
  let isOver = false
  const serve = () => {
    served += 1
    if (!isOver) setImmediate(serve)
  }
  setImmediate(serve)
  const takeTurn = createTurns()
  for (let step = 0; step < 5; step += 1) await takeTurn()
  expect(served).toBe(0)
  for (let step = 0; step < 5; step += 1) {
    work(12)
    await takeTurn()
  }
  isOver = true
  expect(served).toBeGreaterThanOrEqual(5)
})

it('work ends with the reason of its signal', async () => {
  const takeTurn = createTurns(AbortSignal.abort(new Error('too late')))
  work(12)
  await expect(takeTurn()).rejects.toThrow('too late')
})
