import type { FastifyReply, FastifyRequest } from 'fastify'
import { REDIRECT_LIFETIME_MS } from '../../domain/shared/redirects.ts'
import { SECOND } from '../../domain/shared/times.ts'

const NAME = 'connectBinding'

/**
 * Does the request show any sign of a browser? Browsers add these headers themselves, and pages cannot remove `Sec-Fetch-*`. A link, an
 * image or a form on another site must never count as an API client.
 */
export function comesFromBrowser({ headers }: Pick<FastifyRequest, 'headers'>): boolean {
  return Object.keys(headers).some((name) => name === 'origin' || name === 'referer' || name.startsWith('sec-fetch-'))
}

/**
 * Ties what goes on on another site's page to the browser it was begun in (safety.md section 3); only the callback that ends it
 * ever gets to see the cookie.
 */
export function createBindingCookie(callback: string) {
  const { pathname, protocol } = new URL(callback)
  const attributes = { path: pathname, httpOnly: true, sameSite: 'lax', secure: protocol === 'https:' } as const

  return {
    read: (request: FastifyRequest): string | undefined => request.cookies[NAME],

    set(reply: FastifyReply, binding: string): void {
      reply.setCookie(NAME, binding, { ...attributes, maxAge: REDIRECT_LIFETIME_MS / SECOND })
    },

    clear(reply: FastifyReply): void {
      reply.clearCookie(NAME, attributes)
    },
  }
}
