import { randomUUID } from 'node:crypto'
import { createSigner, createVerifier } from 'fast-jwt'
import type { Role } from '../domain/user.ts'
import { SECOND } from '../domain/times.ts'

/** What an access token says about its bearer. */
export interface AccessClaims {
  userId: string
  role: Role
  sessionId: string
  /** The user's `tokenVersion` when it was issued. */
  version: number
}

/** What a token that was checked says: the same, and when it ends. */
export interface VerifiedClaims extends AccessClaims {
  expiresAt: Date
}

interface AccessTokenOptions {
  secret: string
  ttlSeconds: number
  /** Who issues the tokens and whom they are for: tokens of another deployment are refused even under the same secret. */
  issuer: string
}

const ALGORITHM = 'HS256'
/** Keeps tokens of other uses from passing as access tokens (RFC 9068). */
const TYPE = 'at+jwt'
const CLAIMS = ['sub', 'role', 'sid', 'iat', 'exp', 'jti', 'iss', 'aud', 'ver']

/** Signs and checks access tokens (contract section 2). A good token proves only who asks: rights are read from the user record. */
export function createAccessTokens({ secret, ttlSeconds, issuer }: AccessTokenOptions) {
  const sign = createSigner({
    key: secret,
    algorithm: ALGORITHM,
    header: { alg: ALGORITHM, typ: TYPE },
    iss: issuer,
    aud: issuer,
    expiresIn: ttlSeconds * SECOND,
  })
  const checks = {
    key: secret,
    algorithms: [ALGORITHM as typeof ALGORITHM],
    checkTyp: TYPE,
    allowedIss: issuer,
    allowedAud: issuer,
    requiredClaims: CLAIMS,
  }
  const verifyLive = createVerifier(checks)
  const verifyEver = createVerifier({ ...checks, ignoreExpiration: true })

  return {
    issue: ({ userId, role, sessionId, version }: AccessClaims): string =>
      sign({
        sub: userId,
        role,
        sid: sessionId,
        ver: version,
        jti: randomUUID(),
      }),

    /** The claims of a token of ours that has not expired, else null. */
    verify: (token: string): VerifiedClaims | null => read(verifyLive, token),

    /** The same, for a token that may have expired: only good for ending its own session. */
    verifyExpired: (token: string): VerifiedClaims | null => read(verifyEver, token),
  }
}

function read(verify: (token: string) => unknown, token: string): VerifiedClaims | null {
  try {
    return claimsOf(verify(token))
  } catch {
    return null
  }
}

function claimsOf(payload: unknown): VerifiedClaims | null {
  if (payload === null || typeof payload !== 'object') return null
  const { sub, role, sid, ver, exp } = payload as Record<string, unknown>
  if (typeof sub !== 'string' || typeof sid !== 'string' || typeof ver !== 'number' || typeof exp !== 'number')
    return null
  if (role !== 'user' && role !== 'admin') return null
  return { userId: sub, role, sessionId: sid, version: ver, expiresAt: new Date(exp * SECOND) }
}
