import type { Clock } from '../../clock.ts'
import type { AccessTokens } from '../../domain/users/access-tokens.ts'
import type { RefreshTokens } from '../../security/refresh-tokens.ts'
import type { UserStore } from '../../store/users/users.ts'
import { DAY } from '../../domain/shared/times.ts'
import type { User } from '../../domain/users/user.ts'
import { newId } from '../../store/shared/schema.ts'
import type { Session, SessionStore } from '../../store/users/sessions.ts'

export const SESSION_SLIDING_MS = 7 * DAY
export const SESSION_ABSOLUTE_MS = 30 * DAY

const MAX_USER_AGENT_LENGTH = 300

/** Where a session is opened from, for the user's list of devices. */
export interface Client {
  ipAddress: string
  userAgent: string
}

/** What a client holds of a session. `refreshCookie` is the whole value of the cookie, good until `expiresAt`. */
export interface SessionTokens {
  sessionId: string
  accessToken: string
  refreshCookie: string
  expiresAt: Date
}

export interface OpenSessionDeps {
  users: Pick<UserStore, 'setLastLogin'>
  sessions: Pick<SessionStore, 'insert'>
  accessTokens: Pick<AccessTokens, 'issue'>
  refreshTokens: Pick<RefreshTokens, 'first' | 'hash'>
  clock: Pick<Clock, 'now'>
}

/** Logs a user in whose identity is proven, whatever the way, and notes it as the last login. */
export async function openSession(deps: OpenSessionDeps, user: User, client: Client): Promise<SessionTokens> {
  const now = deps.clock.now()
  const sessionId = newId()
  const token = deps.refreshTokens.first(sessionId)
  const session: Session = {
    _id: sessionId,
    userId: user._id,
    version: user.tokenVersion,
    tokenHash: deps.refreshTokens.hash(token),
    generation: 0,
    replaced: [],
    ipAddress: client.ipAddress,
    userAgent: client.userAgent.slice(0, MAX_USER_AGENT_LENGTH),
    createdAt: now,
    lastActive: now,
    expiresAt: new Date(now.getTime() + SESSION_SLIDING_MS),
  }
  await Promise.all([deps.sessions.insert(session), deps.users.setLastLogin(user._id, now)])
  return sessionTokens(deps, user, session, token)
}

export function sessionTokens(
  { accessTokens }: Pick<OpenSessionDeps, 'accessTokens'>,
  user: User,
  session: Session,
  token: string,
): SessionTokens {
  return {
    sessionId: session._id,
    accessToken: accessTokens.issue({
      userId: user._id,
      role: user.role,
      sessionId: session._id,
      version: user.tokenVersion,
    }),
    refreshCookie: `${session._id}.${token}`,
    expiresAt: session.expiresAt,
  }
}

/** The two parts of a refresh cookie: the session it belongs to, and the token that proves it. Null when it is none of ours. */
export function parseRefreshCookie(cookie: string | undefined): { sessionId: string; token: string } | null {
  const match = /^([0-9a-f]{24})\.([\w-]{43})$/.exec(cookie ?? '')
  return match ? { sessionId: match[1]!, token: match[2]! } : null
}
