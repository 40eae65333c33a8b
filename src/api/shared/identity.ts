import type { ApiContext } from '../../context.ts'
import type { AccessClaims, VerifiedClaims } from '../../domain/users/access-tokens.ts'
import { ServiceError } from '../../domain/shared/service-error.ts'
import type { Limits, SubscriptionPlan, Usage } from '../../domain/billing/subscription.ts'
import type { Role } from '../../domain/users/user.ts'

/** The authenticated caller, from the user record at the time of the request. */
export interface RequestUser {
  userId: string
  role: Role
  sessionId: string
  email: string
  name: string
  timezone: string
  usage: Usage
  limits: Limits
  plan: SubscriptionPlan
  analyticsVersion: number
}

export type LoadRequestUserDeps = Pick<ApiContext, 'users' | 'sessions' | 'clock'>
export type AuthenticationDeps = LoadRequestUserDeps & Pick<ApiContext, 'accessTokens'>

/**
 * Verifies an access token. Its claims only identify the caller; `loadRequestUser` checks the caller's rights.
 * @throws ServiceError 401
 */
export function verifyAccessToken(
  { accessTokens }: Pick<AuthenticationDeps, 'accessTokens'>,
  token: string | null,
): VerifiedClaims {
  const claims = token === null ? null : accessTokens.verify(token)
  if (!claims) throw createUnauthorizedError()
  return claims
}

/**
 * Loads user and session of a token and checks that both may still use the service.
 * @throws ServiceError 401 when the session has ended, 403 for a disabled account
 */
export async function loadRequestUser(
  { users, sessions, clock }: LoadRequestUserDeps,
  claims: AccessClaims,
): Promise<RequestUser> {
  const [user, session] = await Promise.all([users.findById(claims.userId), sessions.find(claims.sessionId)])
  if (!user || user.tokenVersion !== claims.version) throw createUnauthorizedError()
  if (session?.userId !== user._id || session.expiresAt <= clock.now()) throw createUnauthorizedError()
  if (user.isDisabled) throw new ServiceError('ACCOUNT_DISABLED', 'Account is disabled')
  const { role, email, name, timezone, usage, limits, subscription, analyticsVersion = 0 } = user
  return {
    userId: user._id,
    sessionId: session._id,
    role,
    email,
    name,
    timezone,
    usage,
    limits,
    plan: subscription.plan,
    analyticsVersion,
  }
}

export function createUnauthorizedError(): ServiceError {
  return new ServiceError('UNAUTHORIZED', 'Unauthorized')
}
