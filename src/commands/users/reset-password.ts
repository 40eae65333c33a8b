import type { Context } from '../../context.ts'
import { findPasswordProblems } from '../../domain/users/new-passwords.ts'
import { ServiceError, validationFailed } from '../../domain/shared/service-error.ts'
import { normalizeEmail } from '../../domain/users/user.ts'
import { hashOf } from '../../security/random.ts'
import { storePassword, type StorePasswordDeps } from './store-password.ts'

type Deps = StorePasswordDeps & Pick<Context, 'users' | 'oneTimeCodes'>

interface ResetPassword {
  token: string
  email: string
  password: string
}

/**
 * Sets a new password by a token that was sent by mail, which is used up with it. Every session of the user ends.
 * @returns the id of the user
 * @throws ServiceError VALIDATION_FAILED, RESET_TOKEN_INVALID
 */
export async function resetPassword(deps: Deps, { token, email, password }: ResetPassword): Promise<string> {
  const { users, oneTimeCodes, passwordResets } = deps
  const problems = findPasswordProblems(password)
  if (problems.length > 0) throw validationFailed(problems)
  const key = oneTimeCodes.addressKey(normalizeEmail(email))
  const hash = hashOf(token)
  // Nobody gets to make us hash passwords without a token.
  if (!(await passwordResets.isGood(key, hash))) throw invalid()
  const userId = await storePassword(deps, {
    password,
    fairnessKey: key,
    async write(passwordHash, session) {
      const owner = await passwordResets.use(key, hash, session)
      return owner !== null && (await users.resetPassword(owner, passwordHash, session)) ? owner : null
    },
  })
  if (userId === null) throw invalid()
  return userId
}

function invalid(): ServiceError {
  return new ServiceError('RESET_TOKEN_INVALID', 'Invalid or expired reset link')
}
