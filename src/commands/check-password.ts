import type { Context } from '../context.ts'
import { normalizePassword } from '../domain/passwords.ts'
import type { User } from '../domain/user.ts'

/**
 * Whether it is the password of the user, who is logged in. A wrong one counts as a failed login: a session that was taken over is no
 * place to guess it.
 * @throws ServiceError RATE_LIMITED
 */
export async function isPasswordOf(
  { loginFailures, passwords }: Pick<Context, 'loginFailures' | 'passwords'>,
  { email, passwordHash }: User,
  { password, ipAddress }: { password: string; ipAddress: string },
): Promise<boolean> {
  const isRight = await loginFailures.attempt({ email, ipAddress }, async () =>
    (await passwords.verify(passwordHash, normalizePassword(password))) ? true : null,
  )
  return isRight !== null
}
