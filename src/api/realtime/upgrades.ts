import { EventEmitter } from 'node:events'
import type { IncomingMessage } from 'node:http'
import type { Duplex } from 'node:stream'
import type { FastifyInstance } from 'fastify'

export const SOCKET_IO_PATH = '/socket.io'
export const STREAM_PATH = '/api/notifications/stream'

/**
 * Returns true for requests that become a WebSocket. Other upgrade requests get a normal response, because some clients offer
 * HTTP/2 this way with every request.
 */
export function isWebSocketRequest({ method, url = '', headers }: IncomingMessage): boolean {
  const path = url.split('?', 1)[0]!.replace(/\/$/, '')
  return (
    method === 'GET' &&
    headers.upgrade?.toLowerCase() === 'websocket' &&
    (path === SOCKET_IO_PATH || path === STREAM_PATH)
  )
}

/**
 * Routes every upgrade through the router, so that its hooks apply (limits, origins, readiness). `source` replaces the server for
 * `@fastify/websocket`, which would otherwise also handle the upgrades of Socket.IO.
 */
export function routeUpgrades(app: FastifyInstance) {
  const source = new EventEmitter()
  const heads = new WeakMap<IncomingMessage, Buffer>()
  const sockets = new Set<Duplex>()
  let isClosing = false

  app.server.on('upgrade', (request: IncomingMessage, socket: Duplex, head: Buffer) => {
    // After an upgrade, Node no longer counts or closes the socket or handles its errors.
    socket.on('error', () => socket.destroy())
    if (isClosing) {
      socket.end('HTTP/1.1 503 Service Unavailable\r\nConnection: close\r\nRetry-After: 2\r\n\r\n')
      return
    }
    sockets.add(socket)
    socket.once('close', () => sockets.delete(socket))
    heads.set(request, head)
    source.emit('upgrade', request, socket, head)
  })

  return {
    source,

    /** Returns the bytes that the client sent after its request, or undefined when the request is not an upgrade. */
    getHead: (request: IncomingMessage): Buffer | undefined => heads.get(request),

    /** Rejects further upgrades with 503. */
    stopAccepting: (): void => void (isClosing = true),

    /** Destroys all open sockets, whatever their transport. */
    destroyAll(): void {
      for (const socket of sockets) socket.destroy()
    },
  }
}

export type Upgrades = ReturnType<typeof routeUpgrades>
