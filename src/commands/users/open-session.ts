import { DAY } from '../../domain/shared/times.ts'
import type { User } from '../../domain/users/user.ts'
import { newId } from '../../store/shared/schema.ts'
import type { Session } from '../../store/users/sessions.ts'
import type { SessionContext } from '../context.ts'

export const SESSION_SLIDING_MS = 7 * DAY
export const SESSION_ABSOLUTE_MS = 30 * DAY

const MAX_USER_AGENT_LENGTH = 300

/** The client of a session, for the user's list of devices. */
export interface Client {
  ipAddress: string
  userAgent: string
}

/** A client's tokens. `refreshCookie` is the whole value of the cookie, valid until `expiresAt`. */
export interface SessionTokens {
  sessionId: string
  accessToken: string
  refreshCookie: string
  expiresAt: Date
}

/** Opens a session for a user whose identity is proven, and records the login. */
export async function openSession(deps: SessionContext, user: User, client: Client): Promise<SessionTokens> {
  const now = deps.clock.now()
  const sessionId = newId()
  const token = deps.refreshTokens.first(sessionId)
  const session: Session = {
    _id: sessionId,
    userId: user._id,
    version: user.tokenVersion,
    tokenHash: deps.refreshTokens.hash(token),
    replaced: [],
    ipAddress: client.ipAddress,
    userAgent: client.userAgent.slice(0, MAX_USER_AGENT_LENGTH),
    createdAt: now,
    lastActive: now,
    expiresAt: new Date(now.getTime() + SESSION_SLIDING_MS),
  }
  await Promise.all([deps.sessions.insert(session), deps.users.setLastLogin(user._id, now)])
  return createSessionTokens(deps, user, session, token)
}

export function createSessionTokens(
  { accessTokens }: SessionContext,
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

/** Parses a refresh cookie into its session and the token that proves it; null when it is malformed. */
export function parseRefreshCookie(cookie: string | undefined): { sessionId: string; token: string } | null {
  const match = /^([0-9a-f]{24})\.([\w-]{43})$/.exec(cookie ?? '')
  return match ? { sessionId: match[1]!, token: match[2]! } : null
}
