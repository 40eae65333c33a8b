import type { ApiContext } from '../../context.ts'
import type { AccessClaims, VerifiedClaims } from '../../domain/users/access-tokens.ts'
import { ServiceError } from '../../domain/shared/service-error.ts'
import type { Limits, Usage } from '../../domain/billing/subscription.ts'
import type { Role } from '../../domain/users/user.ts'

/** The authenticated caller, as the user record says at the moment of the request. */
export interface RequestUser {
  userId: string
  role: Role
  sessionId: string
  email: string
  name: string
  timezone: string
  usage: Usage
  limits: Limits
  analyticsVersion: number
}

export type StandingDeps = Pick<ApiContext, 'users' | 'sessions' | 'clock'>
export type IdentityDeps = StandingDeps & Pick<ApiContext, 'accessTokens'>

/** What a token says, which proves no more than who asks. @throws ServiceError 401 */
export function readClaims({ accessTokens }: Pick<IdentityDeps, 'accessTokens'>, token: string | null): VerifiedClaims {
  const claims = token === null ? null : accessTokens.verify(token)
  if (!claims) throw unauthorized()
  return claims
}

/**
 * Whether the bearer of a token may still use the service, by the records of user and session as they are now.
 * @throws ServiceError 401 when the session has ended, 403 for a disabled account
 */
export async function readStanding(
  { users, sessions, clock }: StandingDeps,
  claims: AccessClaims,
): Promise<RequestUser> {
  const [user, session] = await Promise.all([users.findById(claims.userId), sessions.find(claims.sessionId)])
  if (!user || user.tokenVersion !== claims.version) throw unauthorized()
  if (session?.userId !== user._id || session.expiresAt <= clock.now()) throw unauthorized()
  if (user.isDisabled) throw new ServiceError('ACCOUNT_DISABLED', 'Account is disabled')
  const { role, email, name, timezone, usage, limits, analyticsVersion = 0 } = user
  return {
    userId: user._id,
    sessionId: session._id,
    role,
    email,
    name,
    timezone,
    usage,
    limits,
    analyticsVersion,
  }
}

export function unauthorized(): ServiceError {
  return new ServiceError('UNAUTHORIZED', 'Unauthorized')
}
