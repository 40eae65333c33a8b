import type { FastifyRequest } from 'fastify'
import { normalizeAddress, toNetwork } from '../../domain/shared/client-address.ts'

/**
 * Returns the normalised address of the client. Invalid text from a proxy is replaced by the proxy's own address: a client must
 * not be able to choose its rate-limit key or the address that is stored.
 */
export function getClientAddress(request: Pick<FastifyRequest, 'ip' | 'socket'>): string {
  return normalizeAddress(request.ip) ?? normalizeAddress(request.socket.remoteAddress ?? '') ?? 'unknown'
}

/** Returns the key under which rate limits count the client; see `toNetwork`. */
export function getClientNetwork(request: Pick<FastifyRequest, 'ip' | 'socket'>): string {
  return toNetwork(getClientAddress(request))
}
