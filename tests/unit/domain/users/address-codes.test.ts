import { expect, it } from 'vitest'
import { addCode, joinNewestCode, tryCode, type MailedCode } from '../../../../src/domain/users/address-codes.ts'

const NOW = new Date('2026-03-01T12:00:00Z')
const LATER = new Date('2026-03-01T12:05:00Z')
const add = (codes: MailedCode[], codeHash: string, sender: string, expiresAt = LATER) =>
  addCode(codes, { codeHash, sender, expiresAt, now: NOW })
const attempt = (codes: MailedCode[], codeHash: string, sender: string, now = NOW) =>
  tryCode(codes, { codeHash, sender, now })

/** Fails with wrong codes until `count` tries are used. */
const fail = (codes: MailedCode[], sender: string, count: number) =>
  Array.from({ length: count }).reduce<MailedCode[]>((left) => attempt(left, 'wrong', sender).codes, codes)

it('a new code replaces the earlier code of its sender, and other codes stay valid', () => {
  const codes = add(add(add([], 'a1', 'a'), 'b1', 'b'), 'a2', 'a')
  expect(codes.map(({ codeHash }) => codeHash)).toEqual(['b1', 'a2'])
})

it('a new code removes expired ones and keeps those with several senders', () => {
  const shared = joinNewestCode(add([], 'a1', 'a'), { sender: 'b', now: NOW })!
  const codes = add([...shared, ...add([], 'old', 'c', NOW)], 'a2', 'a')
  expect(codes.map(({ codeHash }) => codeHash)).toEqual(['a1', 'a2'])
})

it('a correct try revokes all codes of the address', () => {
  expect(attempt(add(add([], 'a1', 'a'), 'b1', 'b'), 'a1', 'a')).toEqual({ codes: [], isRight: true })
})

it('a sender has five tries on its own code, and strangers share five others', () => {
  const codes = add([], 'a1', 'a')
  expect(attempt(fail(codes, 'a', 4), 'a1', 'a').isRight).toBe(true)
  expect(attempt(fail(codes, 'a', 5), 'a1', 'a').isRight).toBe(false)
  expect(attempt(fail(codes, 'x', 4), 'a1', 'y').isRight).toBe(true)
  expect(attempt(fail(codes, 'x', 5), 'a1', 'y').isRight).toBe(false)
  expect(attempt(fail(codes, 'x', 5), 'a1', 'a').isRight).toBe(true)
  expect(attempt(fail(codes, 'a', 5), 'a1', 'y').isRight).toBe(true)
})

it('an expired code is never correct and loses no try', () => {
  const codes = add([], 'a1', 'a')
  expect(attempt(codes, 'a1', 'a', LATER)).toEqual({ codes, isRight: false })
})

it('a sender joins the newest code that is valid, once', () => {
  const codes = add(add([], 'a1', 'a'), 'b1', 'b')
  const joined = joinNewestCode(codes, { sender: 'c', now: NOW })!
  expect(joined.map(({ senders }) => senders.map(({ key }) => key))).toEqual([['a'], ['b', 'c']])
  expect(joinNewestCode(joined, { sender: 'c', now: NOW })).toBe(joined)
  expect(joined[1]!.senders[1]!.triesLeft).toBe(5)
})

it('no sender joins an expired code or a code with ten senders', () => {
  expect(joinNewestCode(add([], 'a1', 'a'), { sender: 'b', now: LATER })).toBeNull()
  expect(joinNewestCode([], { sender: 'b', now: NOW })).toBeNull()
  let codes = add([], 'a1', '0')
  for (let sender = 1; sender < 12; sender += 1) codes = joinNewestCode(codes, { sender: `${sender}`, now: NOW })!
  expect(codes[0]!.senders).toHaveLength(10)
})

it('a wrong try costs its own sender one try, and never other senders or strangers', () => {
  const shared = joinNewestCode(add([], 'a1', 'a'), { sender: 'b', now: NOW })!
  expect(fail(shared, 'a', 2)).toMatchObject([
    {
      senders: [
        { key: 'a', triesLeft: 3 },
        { key: 'b', triesLeft: 5 },
      ],
      sharedTriesLeft: 5,
    },
  ])
  expect(fail(shared, 'x', 2)).toMatchObject([
    {
      senders: [
        { key: 'a', triesLeft: 5 },
        { key: 'b', triesLeft: 5 },
      ],
      sharedTriesLeft: 3,
    },
  ])
  expect(attempt(fail(shared, 'a', 5), 'a1', 'b').isRight).toBe(true)
})
