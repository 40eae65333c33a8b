import type { Context } from '../context.ts'
import { passwordProblems } from '../domain/new-passwords.ts'
import { normalizePassword } from '../domain/passwords.ts'
import { ServiceError, validationFailed } from '../domain/service-error.ts'
import { isPasswordOf, type CheckPasswordDeps } from './check-password.ts'

interface ChangePassword {
  userId: string
  /** The session that asks; all others end. */
  sessionId: string
  ipAddress: string
  currentPassword: string
  newPassword: string
}

type Deps = CheckPasswordDeps & Pick<Context, 'users'>

/**
 * Whoever knew the old password is out: every other session of the user ends, and so do its access tokens. Wrong current passwords
 * count as failed logins.
 * @throws ServiceError VALIDATION_FAILED, PASSWORD_NOT_SUPPORTED, INCORRECT_PASSWORD, RATE_LIMITED
 */
export async function changePassword(deps: Deps, input: ChangePassword): Promise<void> {
  const { users, sessions, passwords } = deps
  const { userId, sessionId, ipAddress, currentPassword, newPassword } = input
  const problems = passwordProblems(newPassword, 'newPassword')
  if (problems.length > 0) throw validationFailed(problems)
  const user = await users.findById(userId)
  if (!user) throw new ServiceError('UNAUTHORIZED', 'Unauthorized')
  if (user.auth.provider !== 'email') {
    throw new ServiceError('PASSWORD_NOT_SUPPORTED', 'Password change not supported for this account')
  }
  const guess = { email: user.email, password: currentPassword, ipAddress, from: { sessionId } }
  const isRight = await isPasswordOf(deps, user, guess)
  const changed =
    isRight &&
    (await users.replacePassword(
      userId,
      user.passwordHash,
      await passwords.hash(normalizePassword(newPassword), userId),
    ))
  if (!changed) throw new ServiceError('INCORRECT_PASSWORD', 'Incorrect current password')
  await sessions.removeOthers(userId, sessionId)
}
