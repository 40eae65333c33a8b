import { isCommonPassword } from './common-passwords.ts'
import { MAX_PASSWORD_LENGTH, normalizePassword } from './passwords.ts'
import type { Problem } from './service-error.ts'

/** Code points, after normalization. */
const MIN_PASSWORD_LENGTH = 8

/** Why a new password is not accepted, as a sentence for people, or null. Passwords are never trimmed. */
export function passwordProblem(password: string): string | null {
  const normalized = normalizePassword(password)
  const length = [...normalized].length
  if (length < MIN_PASSWORD_LENGTH) return `must have at least ${MIN_PASSWORD_LENGTH} characters`
  if (length > MAX_PASSWORD_LENGTH) return `must have at most ${MAX_PASSWORD_LENGTH} characters`
  if (isCommonPassword(normalized)) return 'is one of those that are guessed first'
  return null
}

/** The same for the field of a body. */
export function passwordProblems(password: string, path = 'password'): Problem[] {
  const message = passwordProblem(password)
  return message === null ? [] : [{ path, code: 'PASSWORD_NOT_ALLOWED', message }]
}
