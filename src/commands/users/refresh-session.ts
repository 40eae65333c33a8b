import { ServiceError } from '../../domain/shared/service-error.ts'
import { SECOND } from '../../domain/shared/times.ts'
import type { User } from '../../domain/users/user.ts'
import type { Session } from '../../store/users/sessions.ts'
import {
  parseRefreshCookie,
  createSessionTokens,
  SESSION_ABSOLUTE_MS,
  SESSION_SLIDING_MS,
  type SessionTokens,
} from './open-session.ts'
import type { SessionContext } from '../context.ts'

/** How long a replaced token is still accepted, for parallel tabs and lost responses. */
const REPEAT_WINDOW_MS = 30 * SECOND
/** The maximum number of replaced tokens stored per session; browser tabs do not need more within the window. */
const MAX_REPEATABLE = 20

/**
 * Exchanges a refresh cookie for its successor and a new access token. The same cookie within 30 s gets the same successor.
 * Used later, it counts as stolen or copied and ends the whole session.
 * @throws ServiceError UNAUTHORIZED, ACCOUNT_DISABLED
 */
export async function refreshSession(deps: SessionContext, cookie: string | undefined): Promise<SessionTokens> {
  const presented = parseRefreshCookie(cookie)
  if (!presented) throw unauthorized()
  const { sessionId, token } = presented

  for (;;) {
    const session = await deps.sessions.find(sessionId)
    if (!session || session.expiresAt <= deps.clock.now()) throw unauthorized()
    const position = classifyToken(deps, session, token)
    if (position === 'unknown') throw unauthorized()
    if (position === 'spent') {
      await deps.sessions.remove(session._id)
      deps.logger.warn({ userId: session.userId, sessionId: session._id }, 'refresh token reused, session ended')
      throw unauthorized()
    }

    const user = await findActiveUser(deps, session)
    const successor = deps.refreshTokens.successor(sessionId, token)
    if (position === 'repeated') return createSessionTokens(deps, user, session, successor)
    const rotated = rotate(deps, session, successor)
    if (await deps.sessions.replaceToken(session._id, session.tokenHash, rotated)) {
      return createSessionTokens(deps, user, { ...session, ...rotated }, successor)
    }
    // Another request with the same cookie was faster. On the next read the token counts as repeated.
  }
}

async function findActiveUser({ users }: SessionContext, { userId, version }: Session): Promise<User> {
  const user = await users.findById(userId)
  if (!user || user.tokenVersion !== version) throw unauthorized()
  if (user.isDisabled) throw new ServiceError('ACCOUNT_DISABLED', 'Account is disabled')
  return user
}

/**
 * Distinguishes the current token of a session, one replaced within the window, one replaced before it, and one never issued.
 */
function classifyToken(
  deps: SessionContext,
  session: Session,
  token: string,
): 'current' | 'repeated' | 'spent' | 'unknown' {
  const tokenHash = deps.refreshTokens.hash(token)
  if (session.tokenHash === tokenHash) return 'current'
  if (listRepeatable(deps, session).some((replaced) => replaced.tokenHash === tokenHash)) return 'repeated'
  return deps.refreshTokens.wasIssued(session._id, token) ? 'spent' : 'unknown'
}

/** Returns the replaced tokens that are still accepted. */
function listRepeatable({ clock }: SessionContext, session: Session): Session['replaced'] {
  const since = clock.now().getTime() - REPEAT_WINDOW_MS
  return session.replaced.filter(({ at }) => at.getTime() > since).slice(-MAX_REPEATABLE)
}

function rotate(deps: SessionContext, session: Session, successor: string) {
  const now = deps.clock.now()
  const end = Math.min(now.getTime() + SESSION_SLIDING_MS, session.createdAt.getTime() + SESSION_ABSOLUTE_MS)
  return {
    tokenHash: deps.refreshTokens.hash(successor),
    replaced: [...listRepeatable(deps, session), { tokenHash: session.tokenHash, at: now }],
    lastActive: now,
    expiresAt: new Date(end),
  }
}

function unauthorized(): ServiceError {
  return new ServiceError('UNAUTHORIZED', 'Unauthorized')
}
