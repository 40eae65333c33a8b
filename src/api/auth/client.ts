import type { FastifyRequest } from 'fastify'
import type { Client } from '../../commands/open-session.ts'

export function clientOf(request: FastifyRequest): Client {
  return { ipAddress: request.ip, userAgent: request.headers['user-agent'] ?? '' }
}
