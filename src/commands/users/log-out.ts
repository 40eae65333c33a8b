import type { ApiContext } from '../../context.ts'
import { ServiceError } from '../../domain/shared/service-error.ts'
import { endEverywhere } from './end-everywhere.ts'
import { parseRefreshCookie } from './open-session.ts'

type Deps = Pick<ApiContext, 'users' | 'sessions' | 'accessTokens' | 'refreshTokens'>

/** Ends the sessions that the cookie and the access token prove. The access token may have expired; without any proof nothing happens. */
export async function logOut(
  deps: Deps,
  proof: { cookie: string | undefined; accessToken: string | null },
): Promise<void> {
  const ended = [await sessionOfCookie(deps, proof.cookie), await sessionOfToken(deps, proof.accessToken)]
  await Promise.all(ended.filter((sessionId) => sessionId !== null).map((sessionId) => deps.sessions.remove(sessionId)))
}

async function sessionOfCookie(deps: Deps, cookie: string | undefined): Promise<string | null> {
  const presented = parseRefreshCookie(cookie)
  const session = presented && (await deps.sessions.find(presented.sessionId))
  if (!presented || !session) return null
  const { refreshTokens } = deps
  const isOurs =
    refreshTokens.hash(presented.token) === session.tokenHash || refreshTokens.wasIssued(session._id, presented.token)
  return isOurs ? session._id : null
}

async function sessionOfToken(deps: Deps, accessToken: string | null): Promise<string | null> {
  const claims = accessToken === null ? null : deps.accessTokens.verifyExpired(accessToken)
  const session = claims && (await deps.sessions.find(claims.sessionId))
  return session && session.userId === claims?.userId ? session._id : null
}

/** Ends every session of the user; access tokens that are still running are refused from now on. */
export async function logOutEverywhere(
  deps: Pick<ApiContext, 'users' | 'sessions' | 'pushTokens'>,
  userId: string,
): Promise<void> {
  await deps.users.raiseTokenVersion(userId)
  await endEverywhere(deps, userId)
}

/**
 * Ends one session of the user, and its access tokens with it.
 * @throws ServiceError NOT_FOUND, also when it is another's
 */
export async function logOutDevice({ sessions }: Pick<ApiContext, 'sessions'>, userId: string, tokenId: string) {
  if (!(await sessions.removeOf(userId, tokenId))) throw new ServiceError('NOT_FOUND', 'Device not found')
}
