import { SECOND } from '../shared/times.ts'
import type { Role } from './user.ts'

/** Claims of an access token about its bearer. */
export interface AccessClaims {
  userId: string
  role: Role
  sessionId: string
  /** The user's `tokenVersion` when the token was issued. */
  version: number
}

export interface VerifiedClaims extends AccessClaims {
  expiresAt: Date
}

/** Issues and verifies access tokens. A valid token proves only who asks: rights are read from the user record. */
export interface AccessTokens {
  issue(claims: AccessClaims): string
  /** Returns null for a token that this service did not issue or that has expired. */
  verify(token: string): VerifiedClaims | null
  /** Accepts an expired token as well. Use it only to end the token's own session. */
  verifyExpired(token: string): VerifiedClaims | null
}

/** Payload of a token with the names of RFC 7519. In addition, `sid` is the session and `ver` the user's token version. */
export interface AccessPayload {
  sub: string
  role: Role
  sid: string
  ver: number
  jti: string
}

/** Reads a verified payload. Returns null when a claim is missing or has another type. */
export function parseAccessPayload(payload: unknown): VerifiedClaims | null {
  if (payload === null || typeof payload !== 'object') return null
  const { sub, role, sid, ver, exp } = payload as Record<string, unknown>
  if (typeof sub !== 'string' || typeof sid !== 'string') return null
  if (typeof ver !== 'number' || typeof exp !== 'number') return null
  if (role !== 'user' && role !== 'admin') return null
  return { userId: sub, role, sessionId: sid, version: ver, expiresAt: new Date(exp * SECOND) }
}
