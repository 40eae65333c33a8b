import type { FastifyRequest } from 'fastify'
import type { Client } from '../../commands/users/open-session.ts'
import { clientAddress } from '../shared/client-address.ts'

/** Where a request comes from, for the user's list of devices. */
export function clientOf(request: FastifyRequest): Client {
  return { ipAddress: clientAddress(request), userAgent: request.headers['user-agent'] ?? '' }
}
