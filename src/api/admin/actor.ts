import type { FastifyRequest } from 'fastify'
import type { Actor } from '../../domain/users/audit.ts'
import { getClientAddress } from '../shared/client-address.ts'

/** The admin who makes a request, for the audit log. */
export function toActor(request: FastifyRequest): Actor {
  return { id: request.user.userId, requestId: request.id, ipAddress: getClientAddress(request) }
}
