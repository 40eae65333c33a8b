import { randomUUID } from 'node:crypto'
import fastifyJwt from '@fastify/jwt'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import fastifyPlugin from 'fastify-plugin'
import type { Config } from '../../config/schema.ts'
import { parseAccessPayload, type AccessPayload, type AccessTokens } from '../../domain/users/access-tokens.ts'
import { isApiKey } from '../../domain/users/api-keys.ts'
import type { RequestUser } from '../shared/identity.ts'

declare module '@fastify/jwt' {
  interface FastifyJWT {
    payload: AccessPayload
    user: RequestUser
  }
}

declare module 'fastify' {
  interface FastifyInstance {
    accessTokens: AccessTokens
  }
}

export type AccessTokenConfig = Pick<Config, 'JWT_SECRET' | 'PUBLIC_URL' | 'ACCESS_TOKEN_TTL_SECONDS'>

const ALGORITHM = 'HS256'
/** Prevents tokens issued for other purposes from passing as access tokens (RFC 9068). */
const TYPE = 'at+jwt'
const CLAIMS = ['sub', 'role', 'sid', 'iat', 'exp', 'jti', 'iss', 'aud', 'ver']

/**
 * Registers `@fastify/jwt` for access tokens (`request.jwtVerify`, `app.jwt`) and adds `app.accessTokens`, which commands use to issue
 * and verify tokens. Issuer and audience are this deployment, so tokens of another deployment fail even with the same secret.
 */
export const accessTokens = fastifyPlugin(
  async (app: FastifyInstance, { config }: { config: AccessTokenConfig }) => {
    const issuer = config.PUBLIC_URL
    await app.register(fastifyJwt, {
      secret: config.JWT_SECRET,
      // `request.user` is the user record that the guard reads, never the payload of a token.
      decoratorName: 'accessPayload',
      sign: {
        algorithm: ALGORITHM,
        header: { alg: ALGORITHM, typ: TYPE },
        iss: issuer,
        aud: issuer,
        expiresIn: config.ACCESS_TOKEN_TTL_SECONDS,
      },
      verify: {
        algorithms: [ALGORITHM],
        checkTyp: TYPE,
        allowedIss: issuer,
        allowedAud: issuer,
        requiredClaims: CLAIMS,
        extractToken: (request) => parseBearerToken(request) ?? undefined,
      },
    })
    app.decorate('accessTokens', createAccessTokens(app))
  },
  { name: 'access-tokens', fastify: '5.x' },
)

/** Returns the token of an `Authorization: Bearer` header, or null when there is none. */
export function parseBearerToken(request: FastifyRequest): string | null {
  return /^Bearer +([\w-]+\.[\w-]+\.[\w-]+) *$/i.exec(request.headers.authorization ?? '')?.[1] ?? null
}

/** Returns the API key of an `Authorization: Bearer` header, or null when it holds none with the right checksum. */
export function parseApiKey(request: FastifyRequest): string | null {
  const text = /^Bearer +(\w+) *$/i.exec(request.headers.authorization ?? '')?.[1]
  return text !== undefined && isApiKey(text) ? text : null
}

function createAccessTokens({ jwt }: Pick<FastifyInstance, 'jwt'>): AccessTokens {
  const payloadOrNull = (verify: () => unknown) => {
    try {
      return parseAccessPayload(verify())
    } catch {
      return null
    }
  }
  return {
    issue: ({ userId, role, sessionId, version }) =>
      jwt.sign({ sub: userId, role, sid: sessionId, ver: version, jti: randomUUID() }),
    verify: (token) => payloadOrNull(() => jwt.verify(token)),
    verifyExpired: (token) => payloadOrNull(() => jwt.verify(token, { ignoreExpiration: true })),
  }
}
