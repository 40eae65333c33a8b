import { Server as Engine } from 'engine.io'
import type { FastifyInstance } from 'fastify'
import { Server } from 'socket.io'
import {
  PONG_TIMEOUT_MS,
  PING_INTERVAL_MS,
  MAX_MESSAGE_BYTES,
  type Connections,
  type OpenConnection,
} from './connections.ts'
import { toSocketEnding, CLOSE_DETAILS } from './close-details.ts'
import {
  getConnectionId,
  openConnection,
  type ClientSocket,
  type EngineSocket,
  type ClientEvents,
  type ServerEvents,
  type OutputStream,
} from './engine-connection.ts'
import { createMultiMap } from '../shared/multi-map.ts'
import type { Hub, Membership } from './hub.ts'
import type { Upgrades } from './upgrades.ts'

interface SocketIoOptions {
  hub: Hub
  connections: Connections
  upgrades: Upgrades
}

const NAMESPACES = ['/', '/api']

/**
 * The Socket.IO transport: namespaces `/` and `/api`, the token in `auth.token`, event `notification`. Clients send a new token in
 * the event `auth`.
 */
export async function socketIo(app: FastifyInstance, { hub, connections, upgrades }: SocketIoOptions): Promise<void> {
  const engine = new Engine({
    maxHttpBufferSize: MAX_MESSAGE_BYTES,
    pingInterval: PING_INTERVAL_MS,
    pingTimeout: PONG_TIMEOUT_MS,
    perMessageDeflate: false,
    httpCompression: false,
  })
  const io = new Server<ClientEvents, ServerEvents>({ serveClient: false })
  io.bind(engine)

  /** By connection id. */
  const streams = createMultiMap<OutputStream>()
  const connectionsByEngineSocket = new WeakMap<EngineSocket, OpenConnection>()
  const sockets = createMultiMap<ClientSocket>()
  const memberships = new WeakMap<ClientSocket, Membership>()

  engine.on('connection', (conn: EngineSocket) => {
    const id = getConnectionId(conn)
    if (conn.transport.name === 'websocket') trackStream(id, conn.request.socket)
    connectionsByEngineSocket.set(
      conn,
      openConnection(conn, connections, { streams: streams.get, sockets: sockets.get }),
    )
  })

  for (const name of NAMESPACES) {
    const namespace = io.of(name)
    namespace.use((socket, next) => void authenticate(socket, next))
    namespace.on('connection', (socket) => onSocketConnected(socket))
  }

  async function authenticate(socket: ClientSocket, next: (error?: Error) => void): Promise<void> {
    try {
      await admit(socket)
      next()
    } catch (error) {
      const ending = toSocketEnding(error)
      next(new Error(CLOSE_DETAILS[ending].message))
      // Lets the refusal reach the client first.
      setImmediate(() => connectionsByEngineSocket.get(socket.conn)?.end(ending))
    }
  }

  async function admit(socket: ClientSocket): Promise<void> {
    const { conn } = socket
    const connection = connectionsByEngineSocket.get(conn)
    const membership = await hub.admit(parseToken(socket.handshake.auth), {
      send(notification) {
        socket.emit('notification', notification)
        connection?.checkBuffer()
      },
      end: (ending) => connection?.end(ending),
    })
    conn.once('close', () => membership.leave())
    if (conn.readyState !== 'open') membership.leave()
    memberships.set(socket, membership)
  }

  function onSocketConnected(socket: ClientSocket): void {
    const connection = connectionsByEngineSocket.get(socket.conn)
    const membership = memberships.get(socket)
    const id = getConnectionId(socket.conn)
    sockets.add(id, socket)
    connection?.setAuthenticated(true)
    membership?.listen()
    socket.on('auth', (presented, acknowledge) => void renew(socket, parseToken(presented), acknowledge))
    socket.once('disconnect', () => {
      membership?.leave()
      sockets.remove(id, socket)
      if (sockets.get(id).size === 0) connection?.setAuthenticated(false)
    })
  }

  async function renew(socket: ClientSocket, token: string | null, acknowledge: unknown): Promise<void> {
    const membership = memberships.get(socket)
    try {
      await membership?.renew(token)
      if (typeof acknowledge === 'function') acknowledge({ expiresAt: membership?.expiresAt().toISOString() })
    } catch (error) {
      connectionsByEngineSocket.get(socket.conn)?.end(toSocketEnding(error))
    }
  }

  // The engine parses bodies itself and limits their size.
  app.removeAllContentTypeParsers()
  app.addContentTypeParser('*', (_request, _payload, done) => done(null))

  app.route({
    method: ['GET', 'POST'],
    url: '/',
    exposeHeadRoute: false,
    config: { isStream: true },
    schema: { hide: true },
    handler: (request, reply) => {
      reply.hijack()
      const head = upgrades.getHead(request.raw)
      const id = new URL(request.raw.url ?? '/', 'http://localhost').searchParams.get('sid')
      if (head) {
        if (id !== null) trackStream(id, request.raw.socket)
        engine.handleUpgrade(request.raw, request.raw.socket, head)
        return
      }
      for (const [name, value] of Object.entries(reply.getHeaders())) {
        if (value !== undefined) reply.raw.setHeader(name, value)
      }
      if (id !== null && request.method === 'GET') trackStream(id, reply.raw)
      engine.handleRequest(request.raw, reply.raw)
    },
  })

  function trackStream(id: string, stream: OutputStream): void {
    streams.add(id, stream)
    stream.once('close', () => streams.remove(id, stream))
  }

  // A refused upgrade leaves an open socket that no code owns.
  app.addHook('onResponse', async (request) => {
    if (upgrades.getHead(request.raw)) request.raw.socket.destroySoon()
  })

  app.addHook('onClose', async () => io.close())
}

function parseToken(presented: unknown): string | null {
  const token = presented !== null && typeof presented === 'object' ? (presented as { token?: unknown }).token : null
  return typeof token === 'string' ? token : null
}
