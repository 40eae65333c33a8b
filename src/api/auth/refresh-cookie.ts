import type { CookieSerializeOptions } from '@fastify/cookie'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { SessionTokens } from '../../commands/users/open-session.ts'
import type { Config } from '../../config/schema.ts'

const NAME = 'refreshToken'

/** The refresh cookie of contract section 2; only the auth routes ever get to see it. */
export function createRefreshCookie(config: Config) {
  const attributes = authCookieAttributes(config)

  return {
    read: (request: FastifyRequest): string | undefined => request.cookies[NAME],

    /** An end and not an age, so that a repeated refresh gets the same header to the letter. */
    set(reply: FastifyReply, { refreshCookie, expiresAt }: SessionTokens): void {
      reply.setCookie(NAME, refreshCookie, { ...attributes, expires: expiresAt })
    },

    clear(reply: FastifyReply): void {
      reply.clearCookie(NAME, attributes)
    },
  }
}

/** Of every cookie that only the auth routes see. */
export function authCookieAttributes(config: Config): CookieSerializeOptions {
  return {
    path: '/api/auth',
    httpOnly: true,
    sameSite: config.REFRESH_COOKIE_SAME_SITE,
    // Browsers refuse SameSite=None without Secure.
    secure: config.PUBLIC_URL.startsWith('https:') || config.REFRESH_COOKIE_SAME_SITE === 'none',
    ...(config.REFRESH_COOKIE_DOMAIN ? { domain: config.REFRESH_COOKIE_DOMAIN } : {}),
  }
}

export type RefreshCookie = ReturnType<typeof createRefreshCookie>
