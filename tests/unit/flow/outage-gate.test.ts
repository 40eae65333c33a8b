import { describe, expect, it } from 'vitest'
import { createOutageGate, type HeldServer } from '../../../src/flow/outage-gate.ts'

const WAIT_MS = 60_000
const DOWN = { server: 'https://down.example', isUnsent: false, isAnswered: false, isRead: false }

function createGate() {
  const returns: HeldServer[] = []
  const gate = createOutageGate(
    (elapsedMs) => Math.min(elapsedMs + 1_000, WAIT_MS),
    (held) => returns.push(held),
  )
  const fail = (accounts: string[], now = 0, failure = DOWN) =>
    accounts.forEach((account) => gate.fail(account, now, failure))
  return { ...gate, fail, returns }
}

const held = (waitMs: number, failedAt = 0) => ({ waitMs, server: DOWN.server, failedAt })

describe('the gate of a server', () => {
  it('the gate holds an account after three failures in a row, and no other account', () => {
    const { fail, enter } = createGate()
    fail(['ann', 'ann'])
    expect(enter('ann', 0)).toBe('open')
    fail(['ann'])
    expect(enter('ann', 0)).toEqual(held(1_000))
    expect(enter('bob', 0)).toBe('open')
  })

  it('the gate holds an account whose server answers with errors after ten in a row', () => {
    const { fail, enter } = createGate()
    for (let count = 0; count < 9; count++) fail(['ann'], 0, { ...DOWN, isAnswered: true })
    expect(enter('ann', 0)).toBe('open')
    fail(['ann'], 0, { ...DOWN, isAnswered: true })
    expect(enter('ann', 0)).toEqual(held(1_000))
  })

  it('the gate holds all accounts after failures of three, but not when another account succeeds in between', () => {
    const { fail, succeed, enter } = createGate()
    fail(['ann', 'bob'])
    succeed('cem')
    fail(['cem'])
    expect(enter('dan', 0)).toBe('open')
    fail(['ann', 'bob'])
    expect(enter('dan', 0)).toEqual(held(1_000))
  })

  it('the gate holds all accounts of a server that calls of one do not reach', () => {
    const { fail, enter } = createGate()
    fail(['ann', 'ann', 'ann'], 0, { ...DOWN, isUnsent: true })
    expect(enter('bob', 0)).toEqual(held(1_000))
  })

  it('the gate lets one call pass per wait, which grows from the first failure on', () => {
    const { fail, enter } = createGate()
    fail(['ann', 'bob', 'cem'])
    expect(enter('ann', 1_000)).toBe('probe')
    expect(enter('bob', 1_000)).toEqual(held(2_000))
    fail(['ann'], 100_000)
    expect(enter('ann', 159_000)).toEqual(held(1_000, 100_000))
    expect(enter('ann', 160_000)).toBe('probe')
  })

  it('held calls ask again one after the other', () => {
    const { fail, enter } = createGate()
    fail(['ann', 'bob', 'cem'])
    expect([1, 2, 3].map(() => enter('dan', 500))).toEqual([held(500), held(700), held(900)])
  })

  it('a success opens the gate for all accounts, and reports the return once', () => {
    const { fail, succeed, enter, returns } = createGate()
    fail(['ann', 'bob', 'cem'], 7)
    fail(['ann', 'ann'], 8)
    succeed('dan')
    succeed('ann')
    expect([enter('ann', 9), enter('dan', 9)]).toEqual(['open', 'open'])
    expect(returns).toMatchObject([{ server: DOWN.server, failedAt: 8 }])
  })

  it('an answered read lets further reads pass and makes the next write the probe, until a read fails', () => {
    const { fail, enter, answerRead } = createGate()
    fail(['ann', 'bob', 'cem'])
    expect(enter('ann', 0, true)).toEqual(held(1_000))
    answerRead('ann', 0)
    expect([enter('ann', 0, true), enter('bob', 0, true)]).toEqual(['open', 'open'])
    expect(enter('bob', 0)).toBe('probe')
    answerRead('ann', 0)
    expect(enter('bob', 0)).toMatchObject({ server: DOWN.server })
    fail(['ann'], 0, { ...DOWN, isRead: true })
    expect(enter('ann', 0, true)).toMatchObject({ server: DOWN.server })
  })

  it('a probe that was not made leaves its turn to the next call', () => {
    const { fail, enter, giveBack } = createGate()
    fail(['ann', 'bob', 'cem'])
    expect(enter('ann', 1_000)).toBe('probe')
    giveBack('ann', 1_500)
    expect(enter('bob', 1_500)).toBe('probe')
  })
})
