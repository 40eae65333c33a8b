import type { FastifyRequest } from 'fastify'
import type { Client } from '../../commands/open-session.ts'

/** Where a request comes from, for the user's list of devices. */
export function clientOf(request: FastifyRequest): Client {
  return { ipAddress: request.ip, userAgent: request.headers['user-agent'] ?? '' }
}
