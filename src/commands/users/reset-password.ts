import { findPasswordProblems } from '../../domain/users/new-passwords.ts'
import { ServiceError, validationFailed } from '../../domain/shared/service-error.ts'
import { normalizeEmail } from '../../domain/users/user.ts'
import { hashSecret } from '../../security/random.ts'
import { storePassword } from './store-password.ts'
import type { CommandContext } from '../context.ts'

interface ResetPassword {
  token: string
  email: string
  password: string
  /** Deletes the API keys as well. */
  endsApiKeys?: boolean | undefined
}

/**
 * Sets a new password with a mailed token, which is consumed. Every session of the user ends.
 * @returns the id of the user
 * @throws ServiceError VALIDATION_FAILED, RESET_TOKEN_INVALID
 */
export async function resetPassword(
  deps: CommandContext,
  { token, email, password, endsApiKeys }: ResetPassword,
): Promise<string> {
  const { users, oneTimeCodes, passwordResets } = deps
  const problems = findPasswordProblems(password)
  if (problems.length > 0) throw validationFailed(problems)
  const key = oneTimeCodes.addressKey(normalizeEmail(email))
  const hash = hashSecret(token)
  // Checked before hashing, because hashing is expensive.
  if (!(await passwordResets.isValid(key, hash))) throw invalid()
  const userId = await storePassword(deps, {
    password,
    fairnessKey: key,
    endsApiKeys,
    async write(passwordHash, session) {
      const owner = await passwordResets.consume(key, hash, session)
      return owner !== null && (await users.resetPassword(owner, passwordHash, session)) ? owner : null
    },
  })
  if (userId === null) throw invalid()
  return userId
}

function invalid(): ServiceError {
  return new ServiceError('RESET_TOKEN_INVALID', 'Invalid or expired reset link')
}
