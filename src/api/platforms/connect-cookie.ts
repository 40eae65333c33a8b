import type { FastifyReply, FastifyRequest } from 'fastify'
import { CONNECT_ATTEMPT_MS } from '../../domain/platform-connect.ts'
import { SECOND } from '../../domain/times.ts'

const NAME = 'connectBinding'

/** Ties an attempt to connect to the browser it was begun in (safety.md section 3); only the callback ever gets to see it. */
export function createConnectCookie(callback: string) {
  const { pathname, protocol } = new URL(callback)
  const attributes = { path: pathname, httpOnly: true, sameSite: 'lax', secure: protocol === 'https:' } as const

  return {
    read: (request: FastifyRequest): string | undefined => request.cookies[NAME],

    set(reply: FastifyReply, binding: string): void {
      reply.setCookie(NAME, binding, { ...attributes, maxAge: CONNECT_ATTEMPT_MS / SECOND })
    },

    clear(reply: FastifyReply): void {
      reply.clearCookie(NAME, attributes)
    },
  }
}
