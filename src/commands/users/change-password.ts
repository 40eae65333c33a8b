import { findPasswordProblems } from '../../domain/users/new-passwords.ts'
import { ServiceError, validationFailed } from '../../domain/shared/service-error.ts'
import { checkPassword } from './check-password.ts'
import { storePassword } from './store-password.ts'
import type { CommandContext } from '../context.ts'

interface ChangePassword {
  userId: string
  /** The requesting session; all others end. */
  sessionId: string
  ipAddress: string
  currentPassword: string
  newPassword: string
  /** Deletes the API keys as well. */
  endsApiKeys?: boolean | undefined
}

/**
 * Changes the password of a user who knows the current one. The requesting session stays; see `storePassword` for what ends.
 * Wrong current passwords count as failed logins.
 * @throws ServiceError VALIDATION_FAILED, PASSWORD_NOT_SUPPORTED, INCORRECT_PASSWORD, RATE_LIMITED
 */
export async function changePassword(deps: CommandContext, input: ChangePassword): Promise<void> {
  const { users } = deps
  const { userId, sessionId, ipAddress, currentPassword, newPassword, endsApiKeys } = input
  const problems = findPasswordProblems(newPassword, 'newPassword')
  if (problems.length > 0) throw validationFailed(problems)
  const user = await users.findById(userId)
  if (!user) throw new ServiceError('UNAUTHORIZED', 'Unauthorized')
  if (user.auth.provider !== 'email') {
    throw new ServiceError('PASSWORD_NOT_SUPPORTED', 'Password change not supported for this account')
  }
  const guess = { email: user.email, password: currentPassword, ipAddress, from: { sessionId } }
  const isRight = await checkPassword(deps, user, guess)
  const changed =
    isRight &&
    (await storePassword(deps, {
      password: newPassword,
      fairnessKey: userId,
      exceptSessionId: sessionId,
      endsApiKeys,
      write: async (hash, session) => ((await users.replacePassword(user, hash, session)) ? userId : null),
    }))
  if (!changed) throw new ServiceError('INCORRECT_PASSWORD', 'Incorrect current password')
}
