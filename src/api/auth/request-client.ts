import type { FastifyRequest } from 'fastify'
import type { Client } from '../../commands/users/open-session.ts'
import { getClientAddress } from '../shared/client-address.ts'

/** Returns address and user agent of a request, for the user's list of devices. */
export function toClient(request: FastifyRequest): Client {
  return { ipAddress: getClientAddress(request), userAgent: request.headers['user-agent'] ?? '' }
}
