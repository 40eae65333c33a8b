import { describe, expect, it } from 'vitest'
import { findPasswordProblem, findPasswordProblems } from '../../../../src/domain/users/new-passwords.ts'

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
    ['xkqvzjwp', null],
    ['xkqvzjw', 'must have at least 8 characters'],
    // Eight characters that a keyboard composed from sixteen code points, and seven of them.
    ['q\u0308'.repeat(4) + 'e\u0301'.repeat(4), null],
    ['e\u0301'.repeat(7), 'must have at least 8 characters'],
    // Normalization makes eighteen characters of one.
    ['\ufdfa'.repeat(57), 'must have at most 1024 characters'],
    ['\ufdfa'.repeat(56), null],
  ])('the password %j: %s', (password, problem) => {
    expect(findPasswordProblem(password)).toBe(problem)
  })

  it('an accepted password has no problems', () => {
    expect(findPasswordProblems('correct horse battery staple')).toEqual([])
  })

  it('a rejected password has one problem with the path of its field', () => {
    const message = 'The password is too common and easy to guess. Choose another one.'
    expect(findPasswordProblems('password')).toEqual([{ path: 'password', code: 'PASSWORD_NOT_ALLOWED', message }])
    expect(findPasswordProblems('password', 'newPassword')).toMatchObject([{ path: 'newPassword' }])
  })
})
