import { EventEmitter } from 'node:events'
import type { IncomingMessage } from 'node:http'
import type { Duplex } from 'node:stream'
import type { FastifyInstance } from 'fastify'

export const SOCKET_IO_PATH = '/socket.io'
export const STREAM_PATH = '/api/notifications/stream'

/**
 * Which requests become a WebSocket. With others that ask for an upgrade nothing is upgraded, and they are answered as usual: some
 * clients offer HTTP/2 like this with every request.
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
 * Leads every upgrade through the router, so that the hooks of all requests hold for it (limits, origins, readiness).
 * `source` stands for the server toward `@fastify/websocket`, which would otherwise take the upgrades of the other transport as well.
 */
export function routeUpgrades(app: FastifyInstance) {
  const source = new EventEmitter()
  const heads = new WeakMap<IncomingMessage, Buffer>()
  const sockets = new Set<Duplex>()
  let isClosing = false

  app.server.on('upgrade', (request: IncomingMessage, socket: Duplex, head: Buffer) => {
    // Node leaves the socket to whoever upgrades it, errors included, and no longer counts or closes it.
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

    /** What the client sent behind its request, or undefined when that is no upgrade. */
    getHead: (request: IncomingMessage): Buffer | undefined => heads.get(request),

    /** No more of them. */
    stopAccepting: (): void => void (isClosing = true),

    /** Lets go of those that are still open, whoever holds them. */
    destroyAll(): void {
      for (const socket of sockets) socket.destroy()
    },
  }
}

export type Upgrades = ReturnType<typeof routeUpgrades>
