import type { ApiContext } from '../context.ts'
import { normalizePassword } from '../domain/passwords.ts'
import { ServiceError } from '../domain/service-error.ts'
import type { User } from '../domain/user.ts'
import { untilNextStep } from './steady-answer.ts'
import { openSession, type Client, type SessionTokens } from './open-session.ts'

type Deps = Pick<
  ApiContext,
  'users' | 'sessions' | 'passwords' | 'accessTokens' | 'refreshTokens' | 'loginFailures' | 'clock'
>

interface LogIn extends Client {
  email: string
  password: string
}

/**
 * Logs in by address and password. An unknown address and a wrong password get the same answer in the same time;
 * that an account is disabled is told only to who knows its password.
 * @throws ServiceError INVALID_CREDENTIALS, ACCOUNT_DISABLED, RATE_LIMITED
 */
export async function logIn(deps: Deps, input: LogIn): Promise<SessionTokens & { user: User }> {
  const begin = deps.clock.now()
  const user = await deps.loginFailures.attempt(input, () => findByPassword(deps, input))
  if (!user) {
    await untilNextStep(deps.clock, begin)
    throw invalidCredentials()
  }
  if (user.isDisabled) throw new ServiceError('ACCOUNT_DISABLED', 'Account is disabled')
  const tokens = await openSession(deps, user, input)
  // A password that was changed meanwhile has ended all sessions before it knew of this one.
  if ((await deps.users.findById(user._id))?.passwordHash !== user.passwordHash) {
    await deps.sessions.remove(tokens.sessionId)
    throw invalidCredentials()
  }
  return { user, ...tokens }
}

async function findByPassword({ users, passwords }: Deps, { email, password }: LogIn): Promise<User | null> {
  const user = await users.findByEmail(email)
  const matches = await passwords.verify(user?.passwordHash ?? null, normalizePassword(password))
  return matches ? user : null
}

function invalidCredentials(): ServiceError {
  return new ServiceError('INVALID_CREDENTIALS', 'Invalid email or password')
}
