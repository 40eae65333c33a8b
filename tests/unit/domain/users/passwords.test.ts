import { describe, expect, it } from 'vitest'
import { findPasswordProblem } from '../../../../src/domain/users/new-passwords.ts'

describe('a new password', () => {
  it.each([
    ['1234567', 'must have at least 8 characters'],
    ['👩‍👩‍👧‍👦', 'must have at least 8 characters'],
    ['x'.repeat(1_025), 'must have at most 1024 characters'],
    ['password', 'is too common and easy to guess'],
    ['PassWord', 'is too common and easy to guess'],
    ['ＰＡＳＳＷＯＲＤ', 'is too common and easy to guess'],
    ['iloveyou1', 'is too common and easy to guess'],
    ['correct horse battery staple', null],
    ['x'.repeat(1_024), null],
    [' password', null],
  ])('the password %j: %s', (password, problem) => {
    expect(findPasswordProblem(password)).toBe(problem)
  })
})
