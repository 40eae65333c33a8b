import type { FastifyRequest } from 'fastify'
import { normalizeAddress, toNetwork } from '../../domain/shared/client-address.ts'

/**
 * The normalised address of the client. Text from a proxy that is no address counts as the proxy's own address: a client must not be
 * able to choose its key, nor what is stored of it.
 */
export function getClientAddress(request: Pick<FastifyRequest, 'ip' | 'socket'>): string {
  return normalizeAddress(request.ip) ?? normalizeAddress(request.socket.remoteAddress ?? '') ?? 'unknown'
}

/** The key under which limits count the client; see `toNetwork`. */
export function getClientNetwork(request: Pick<FastifyRequest, 'ip' | 'socket'>): string {
  return toNetwork(getClientAddress(request))
}
