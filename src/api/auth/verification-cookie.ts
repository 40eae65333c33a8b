import type { FastifyReply, FastifyRequest } from 'fastify'
import type { VerifiedAddress } from '../../commands/users/verify-code.ts'
import type { Config } from '../../config/schema.ts'
import { authCookieAttributes } from './refresh-cookie.ts'

const NAME = 'verificationToken'

/** Creates the cookie that carries the verification token to the sign-up, for frontends that store only cookies. */
export function createVerificationCookie(config: Config) {
  const attributes = authCookieAttributes(config)

  return {
    read: (request: FastifyRequest): string | undefined => request.cookies[NAME],

    set(reply: FastifyReply, { verificationToken, expiresAt }: VerifiedAddress): void {
      reply.setCookie(NAME, verificationToken, { ...attributes, expires: expiresAt })
    },

    clear(reply: FastifyReply): void {
      reply.clearCookie(NAME, attributes)
    },
  }
}
