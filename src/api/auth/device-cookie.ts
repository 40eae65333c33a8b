import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Context } from '../../context.ts'
import { KNOWN_DEVICE_MS } from '../../domain/users/login-throttle.ts'
import { SECOND } from '../../domain/shared/times.ts'
import { authCookieAttributes } from './refresh-cookie.ts'

const NAME = 'knownDevice'

/** Creates the cookie that marks browsers with a past login, so that password guessing elsewhere cannot lock them out. It outlives logouts and grants no access. */
export function createDeviceCookie({ config, knownDevices, clock }: Context) {
  const attributes = { ...authCookieAttributes(config), maxAge: KNOWN_DEVICE_MS / SECOND }
  const read = (request: FastifyRequest): string | undefined => request.cookies[NAME]

  return {
    read,

    /** Call it after every successful authentication of the client. */
    remember(request: FastifyRequest, reply: FastifyReply, userId: string): void {
      reply.setCookie(NAME, knownDevices.remember(read(request), userId, clock.now()), attributes)
    },
  }
}

export type DeviceCookie = ReturnType<typeof createDeviceCookie>
