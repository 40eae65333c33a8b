import type { SessionStore } from '../../store/users/sessions.ts'
import { ServiceError } from '../../domain/shared/service-error.ts'
import { endEverywhere } from './end-everywhere.ts'
import { parseRefreshCookie } from './open-session.ts'
import type { CommandContext, SessionContext } from '../context.ts'

/**
 * Ends the sessions that the cookie and the access token prove. The access token may have expired. Without a proof nothing
 * happens.
 */
export async function logOut(
  deps: SessionContext,
  proof: { cookie: string | undefined; accessToken: string | null },
): Promise<void> {
  const ended = [await findSessionByCookie(deps, proof.cookie), await findSessionByToken(deps, proof.accessToken)]
  await Promise.all(ended.filter((sessionId) => sessionId !== null).map((sessionId) => deps.sessions.remove(sessionId)))
}

async function findSessionByCookie(deps: SessionContext, cookie: string | undefined): Promise<string | null> {
  const presented = parseRefreshCookie(cookie)
  const session = presented && (await deps.sessions.find(presented.sessionId))
  if (!presented || !session) return null
  const { refreshTokens } = deps
  const isOwnDevice =
    refreshTokens.hash(presented.token) === session.tokenHash || refreshTokens.wasIssued(session._id, presented.token)
  return isOwnDevice ? session._id : null
}

async function findSessionByToken(deps: SessionContext, accessToken: string | null): Promise<string | null> {
  const claims = accessToken === null ? null : deps.accessTokens.verifyExpired(accessToken)
  const session = claims && (await deps.sessions.find(claims.sessionId))
  return session && session.userId === claims?.userId ? session._id : null
}

/** Ends every session of the user, and the API keys if asked; running access tokens are refused from now on. */
export async function logOutEverywhere(
  deps: CommandContext,
  userId: string,
  options: { endsApiKeys?: boolean | undefined } = {},
): Promise<void> {
  await deps.users.raiseTokenVersion(userId)
  await endEverywhere(deps, userId, options)
}

/**
 * Ends one session of the user, and its access tokens with it.
 * @throws ServiceError NOT_FOUND, also for another user's session
 */
export async function logOutDevice({ sessions }: { sessions: SessionStore }, userId: string, tokenId: string) {
  if (!(await sessions.removeOwned(userId, tokenId))) throw new ServiceError('NOT_FOUND', 'Device not found')
}
