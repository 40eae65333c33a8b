import { isCommonPassword } from './common-passwords.ts'
import { MAX_PASSWORD_LENGTH, normalizePassword } from './passwords.ts'
import type { Problem } from '../shared/service-error.ts'
import { countCodePoints } from '../shared/text.ts'

/** Code points, after normalization. */
const MIN_PASSWORD_LENGTH = 8

/** Returns why a new password is not accepted, as a predicate for a sentence; null when it is. Passwords are never trimmed. */
export function findPasswordProblem(password: string): string | null {
  const tooLong = `must have at most ${MAX_PASSWORD_LENGTH} characters`
  // Normalization takes quadratic time on long runs of combining marks.
  if (countCodePoints(password) > MAX_PASSWORD_LENGTH) return tooLong
  const normalized = normalizePassword(password)
  const length = countCodePoints(normalized)
  if (length < MIN_PASSWORD_LENGTH) return `must have at least ${MIN_PASSWORD_LENGTH} characters`
  if (length > MAX_PASSWORD_LENGTH) return tooLong
  if (isCommonPassword(normalized)) return 'is too common and easy to guess'
  return null
}

/** Returns the problems of a request body's password field. */
export function findPasswordProblems(password: string, path = 'password'): Problem[] {
  const message = findPasswordProblem(password)
  return message === null
    ? []
    : [{ path, code: 'PASSWORD_NOT_ALLOWED', message: `The password ${message}. Choose another one.` }]
}
