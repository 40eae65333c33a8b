import type { CookieSerializeOptions } from '@fastify/cookie'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { SessionTokens } from '../../commands/users/open-session.ts'
import type { Config } from '../../config/schema.ts'

const NAME = 'refreshToken'

/** Creates the refresh cookie. Browsers send it only to the auth routes. */
export function createRefreshCookie(config: Config) {
  const attributes = authCookieAttributes(config)

  return {
    read: (request: FastifyRequest): string | undefined => request.cookies[NAME],

    /** Sets an absolute expiry, so that a repeated refresh gets an identical header. */
    set(reply: FastifyReply, { refreshCookie, expiresAt }: SessionTokens): void {
      reply.setCookie(NAME, refreshCookie, { ...attributes, expires: expiresAt })
    },

    clear(reply: FastifyReply): void {
      reply.clearCookie(NAME, attributes)
    },
  }
}

/** Returns the attributes of every cookie for the auth routes. */
export function authCookieAttributes(config: Config): CookieSerializeOptions {
  return {
    path: '/api/auth',
    httpOnly: true,
    sameSite: config.REFRESH_COOKIE_SAME_SITE,
    // Browsers reject SameSite=None without Secure.
    secure: config.PUBLIC_URL.startsWith('https:') || config.REFRESH_COOKIE_SAME_SITE === 'none',
    ...(config.REFRESH_COOKIE_DOMAIN ? { domain: config.REFRESH_COOKIE_DOMAIN } : {}),
  }
}

export type RefreshCookie = ReturnType<typeof createRefreshCookie>
