import { ServiceError } from '../../domain/shared/service-error.ts'
import type { User } from '../../domain/users/user.ts'
import { checkPassword } from './check-password.ts'
import { constantTimeDelay } from './constant-time-delay.ts'
import { openSession, type Client, type SessionTokens } from './open-session.ts'
import type { SessionContext } from '../context.ts'

interface LogIn extends Client {
  email: string
  password: string
  /** Proves an earlier login of the device. */
  deviceCookie?: string | undefined
}

/**
 * Logs in by address and password. An unknown address and a wrong password get the same response in the same time. Only a
 * caller who knows the password learns that the account is disabled.
 * @throws ServiceError INVALID_CREDENTIALS, ACCOUNT_DISABLED, RATE_LIMITED
 */
export async function logIn(deps: SessionContext, input: LogIn): Promise<SessionTokens & { user: User }> {
  const begin = deps.clock.now()
  const user = await deps.users.findByEmail(input.email)
  const isRight = await checkPassword(deps, user, { ...input, from: { deviceCookie: input.deviceCookie } })
  if (!user || !isRight) {
    await constantTimeDelay(deps.clock, begin)
    throw invalidCredentials()
  }
  if (user.isDisabled) {
    deps.loginEvents.failed(input, 'disabled')
    throw new ServiceError('ACCOUNT_DISABLED', 'Account is disabled')
  }
  const tokens = await openSession(deps, user, input)
  // A concurrent password change ended all sessions before it could see this one.
  if ((await deps.users.findById(user._id))?.passwordHash !== user.passwordHash) {
    await deps.sessions.remove(tokens.sessionId)
    throw invalidCredentials()
  }
  return { user, ...tokens }
}

function invalidCredentials(): ServiceError {
  return new ServiceError('INVALID_CREDENTIALS', 'Invalid email or password')
}
