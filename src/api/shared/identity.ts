import type { ApiContext } from '../../context.ts'
import { hasScope, insufficientScope, isExpiredKey, type ApiKey, type RouteScope } from '../../domain/users/api-keys.ts'
import type { AccessClaims, VerifiedClaims } from '../../domain/users/access-tokens.ts'
import { ServiceError } from '../../domain/shared/service-error.ts'
import type { Limits, SubscriptionPlan, Usage } from '../../domain/billing/subscription.ts'
import type { Role, User } from '../../domain/users/user.ts'
import { hashSecret } from '../../security/random.ts'

/** The authenticated caller, from the user record at the time of the request. */
export interface RequestUser {
  userId: string
  /** Always `user` for an API key. */
  role: Role
  /** Null for an API key. */
  sessionId: string | null
  /** The API key that authenticates the request; null for a session, which has every scope. */
  apiKey: Pick<ApiKey, '_id' | 'keyId' | 'scopes'> | null
  email: string
  name: string
  timezone: string
  holdSeconds: number
  usage: Usage
  limits: Limits
  plan: SubscriptionPlan
  analyticsVersion: number
}

/**
 * Verifies an access token. Its claims only identify the caller; `loadRequestUser` checks the caller's rights.
 * @throws ServiceError 401
 */
export function verifyAccessToken({ accessTokens }: ApiContext, token: string | null): VerifiedClaims {
  const claims = token === null ? null : accessTokens.verify(token)
  if (!claims) throw createUnauthorizedError()
  return claims
}

/**
 * Loads user and session of a token and checks that both may still use the service.
 * @throws ServiceError 401 when the session has ended, 403 for a disabled account
 */
export async function loadRequestUser(
  { users, sessions, clock }: ApiContext,
  claims: AccessClaims,
): Promise<RequestUser> {
  const [user, session] = await Promise.all([users.findById(claims.userId), sessions.find(claims.sessionId)])
  if (!user || user.tokenVersion !== claims.version) throw createUnauthorizedError()
  if (session?.userId !== user._id || session.expiresAt <= clock.now()) throw createUnauthorizedError()
  if (user.isDisabled) throw new ServiceError('ACCOUNT_DISABLED', 'Account is disabled')
  return toRequestUser(user, { role: user.role, sessionId: session._id, apiKey: null })
}

/**
 * Loads an API key and its owner. All reasons to refuse a key get the same error, also a disabled account.
 * @throws ServiceError 401
 */
export async function loadKeyUser(
  { apiKeys, users, clock }: ApiContext,
  secret: string,
): Promise<{ apiKey: ApiKey; user: RequestUser }> {
  const apiKey = await apiKeys.find(hashSecret(secret))
  if (!apiKey || isExpiredKey(apiKey, clock.now())) throw createUnauthorizedError()
  const user = await users.findById(apiKey.userId)
  if (!user || user.isDisabled) throw createUnauthorizedError()
  return { apiKey, user: toRequestUser(user, { role: 'user', sessionId: null, apiKey }) }
}

function toRequestUser(user: User, credential: Pick<RequestUser, 'role' | 'sessionId' | 'apiKey'>): RequestUser {
  const { _id: userId, email, name, timezone, holdSeconds = 0, usage, limits, analyticsVersion = 0 } = user
  const { plan } = user.subscription
  return { userId, email, name, timezone, holdSeconds, usage, limits, plan, analyticsVersion, ...credential }
}

/**
 * Checks that the caller may use a route that needs this scope.
 * @throws ServiceError INSUFFICIENT_SCOPE; SESSION_REQUIRED for an API key where keys are refused
 */
export function assertScope({ apiKey }: Pick<RequestUser, 'apiKey'>, needed: RouteScope): void {
  if (!apiKey || needed === 'any') return
  if (needed === 'refused') throw createSessionRequiredError()
  if (!hasScope(apiKey.scopes, needed)) throw insufficientScope(needed)
}

/**
 * Returns the id of the caller's session.
 * @throws ServiceError SESSION_REQUIRED for an API key
 */
export function getSessionId({ sessionId }: Pick<RequestUser, 'sessionId'>): string {
  if (sessionId === null) throw createSessionRequiredError()
  return sessionId
}

function createSessionRequiredError(): ServiceError {
  return new ServiceError('SESSION_REQUIRED', 'API keys cannot be used here. Log in and send an access token.')
}

export function createUnauthorizedError(): ServiceError {
  return new ServiceError('UNAUTHORIZED', 'Unauthorized')
}
