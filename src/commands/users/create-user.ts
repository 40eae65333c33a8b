import { findPasswordProblem } from '../../domain/users/new-passwords.ts'
import { normalizePassword } from '../../domain/users/passwords.ts'
import { ServiceError } from '../../domain/shared/service-error.ts'
import type { Limits } from '../../domain/billing/subscription.ts'
import { newUser, type User } from '../../domain/users/user.ts'
import { isDuplicateKey } from '../../store/mongo-errors.ts'
import { newId } from '../../store/shared/schema.ts'
import type { CommandContext } from '../context.ts'

interface NewAccount extends Partial<Pick<User, '_id' | 'avatar' | 'timezone'>> {
  email: string
  name: string
  password: string
  /** The current limits of the Free plan. */
  limits: Limits
}

/**
 * Creates an account with a password.
 * @param store writes the user and everything that must be written with it
 * @throws ServiceError VALIDATION_FAILED for a password that is not allowed, ADDRESS_TAKEN
 */
export async function createUser(
  { users, passwords, clock }: CommandContext,
  { password, ...account }: NewAccount,
  store: (user: User) => Promise<void> = users.insert,
): Promise<User> {
  const problem = findPasswordProblem(password)
  if (problem) throw new ServiceError('VALIDATION_FAILED', `The password ${problem}`)
  const passwordHash = await passwords.hash(normalizePassword(password), account.email)
  const user = newUser({ _id: newId(), ...account, passwordHash }, clock.now())
  try {
    await store(user)
  } catch (error) {
    if (isDuplicateKey(error))
      throw new ServiceError('ADDRESS_TAKEN', 'This address already has an account', { cause: error })
    throw error
  }
  return user
}
