import type { Context } from '../context.ts'
import { passwordProblems } from '../domain/new-passwords.ts'
import { normalizePassword } from '../domain/passwords.ts'
import { ServiceError, validationFailed } from '../domain/service-error.ts'
import { normalizeEmail } from '../domain/user.ts'
import { endEverywhere } from './end-everywhere.ts'
import { hashOf } from './random-secrets.ts'

type Deps = Pick<
  Context,
  'database' | 'users' | 'sessions' | 'pushTokens' | 'passwords' | 'oneTimeCodes' | 'passwordResets'
>

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
  const { database, users, passwords, oneTimeCodes, passwordResets } = deps
  const problems = passwordProblems(password)
  if (problems.length > 0) throw validationFailed(problems)
  const key = oneTimeCodes.addressKey(normalizeEmail(email))
  const hash = hashOf(token)
  // Nobody gets to make us hash passwords without a token.
  if (!(await passwordResets.isGood(key, hash))) throw invalid()
  const passwordHash = await passwords.hash(normalizePassword(password), key)
  const userId = await database.transaction(async (session) => {
    const owner = await passwordResets.use(key, hash, session)
    if (owner === null || !(await users.resetPassword(owner, passwordHash, session))) throw invalid()
    return owner
  })
  await endEverywhere(deps, userId)
  return userId
}

function invalid(): ServiceError {
  return new ServiceError('RESET_TOKEN_INVALID', 'Invalid or expired reset link')
}
