import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Context } from '../../context.ts'
import { KNOWN_DEVICE_MS } from '../../domain/users/login-throttle.ts'
import { SECOND } from '../../domain/shared/times.ts'
import { authCookieAttributes } from './refresh-cookie.ts'

const NAME = 'knownDevice'

/** Marks browsers that logged in, so that strangers who guess passwords cannot lock them out. It outlives logouts and opens nothing. */
export function createDeviceCookie({
  config,
  knownDevices,
  clock,
}: Pick<Context, 'config' | 'knownDevices' | 'clock'>) {
  const attributes = { ...authCookieAttributes(config), maxAge: KNOWN_DEVICE_MS / SECOND }
  const read = (request: FastifyRequest): string | undefined => request.cookies[NAME]

  return {
    read,

    /** To be called whenever the client has proven to be the user. */
    remember(request: FastifyRequest, reply: FastifyReply, userId: string): void {
      reply.setCookie(NAME, knownDevices.remember(read(request), userId, clock.now()), attributes)
    },
  }
}

export type DeviceCookie = ReturnType<typeof createDeviceCookie>
