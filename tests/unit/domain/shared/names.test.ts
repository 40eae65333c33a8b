import { expect, it } from 'vitest'
import { findNameProblems, normalizeName, pickUsableName } from '../../../../src/domain/shared/names.ts'

it.each([
  ['A', 'must have at least 2 characters'],
  ['  A  ', 'must have at least 2 characters'],
  ['x'.repeat(101), 'must have at most 100 characters'],
  ['Ann\nBob', 'must be one line of text'],
  ['Ann\u2028Bob', 'must be one line of text'],
])('the name %j is rejected with its reason', (name, problem) => {
  const message = `The name ${problem}. Choose another one.`
  expect(findNameProblems(name)).toEqual([{ path: 'name', code: 'NAME_NOT_ALLOWED', message }])
})

it.each(['Al', 'x'.repeat(100), '😀'.repeat(100), ' Ann Other '])('the name %j is accepted', (name) => {
  expect(findNameProblems(name)).toEqual([])
})

it('a stored name is trimmed, composed, without overrides of its direction, and cut to 1,000 code points of input', () => {
  expect(normalizeName(' A\u0308nn ')).toBe('Änn')
  expect(normalizeName('\u202eAnn\u2066 👨‍👩‍👧 \u2069')).toBe('Ann 👨‍👩‍👧')
  expect(normalizeName('x'.repeat(1_001))).toHaveLength(1_000)
})

it('the first acceptable name is used and cut to 100 characters', () => {
  expect(pickUsableName([null, 'A', ' Ann ', 'Bob'], 'User')).toBe('Ann')
  expect(pickUsableName(['x'.repeat(200)], 'User')).toBe('x'.repeat(100))
  expect(pickUsableName([null, ''], 'User')).toBe('User')
})
