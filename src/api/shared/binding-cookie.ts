import type { FastifyReply, FastifyRequest } from 'fastify'
import { REDIRECT_LIFETIME_MS } from '../../domain/shared/redirects.ts'
import { SECOND } from '../../domain/shared/times.ts'

const NAME = 'connectBinding'

/**
 * Returns true when any header shows that a browser sent the request. Browsers add these headers themselves, and pages cannot
 * remove `Sec-Fetch-*`. A link, an image or a form on another site must never count as an API client.
 */
export function isFromBrowser({ headers }: Pick<FastifyRequest, 'headers'>): boolean {
  return Object.keys(headers).some((name) => name === 'origin' || name === 'referer' || name.startsWith('sec-fetch-'))
}

/**
 * Creates the cookie that ties a redirect attempt to the browser that started it. The cookie path is the callback's path, so no
 * other route receives it. See docs/design/security.md.
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
