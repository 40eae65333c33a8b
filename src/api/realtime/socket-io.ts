import type { ServerResponse } from 'node:http'
import type { Duplex } from 'node:stream'
import { Server as Engine } from 'engine.io'
import type { FastifyInstance } from 'fastify'
import { Server, type Socket } from 'socket.io'
import type { SocketTransport } from '../../integrations/metrics.ts'
import type { NotificationView } from '../notifications/schema.ts'
import {
  ANSWER_WITHIN_MS,
  ASK_EVERY_MS,
  MOST_MESSAGE_BYTES,
  type Connections,
  type OpenConnection,
} from './connections.ts'
import { endingOf, FAREWELLS } from './endings.ts'
import { createGroups } from './groups.ts'
import type { Hub, Membership } from './hub.ts'
import type { Upgrades } from './upgrades.ts'

interface SocketIoOptions {
  hub: Hub
  connections: Connections
  upgrades: Upgrades
}

interface FromClient {
  auth: (presented: unknown, acknowledge: unknown) => void
}
interface ToClient {
  notification: (notification: NotificationView) => void
  error: (problem: { message: string; code: string }) => void
}
type Conversation = Socket<FromClient, ToClient>
type EngineSocket = Conversation['conn']

/** What the bytes for a client leave this process by: the raw socket of a WebSocket, or the answer to a poll. */
type Wire = Pick<Duplex | ServerResponse, 'writableLength' | 'destroy'>

const NAMESPACES = ['/', '/api']

/**
 * The Socket.IO transport of contract section 9: namespaces `/` and `/api`, the token in `auth.token`, event `notification`. A
 * fresh token goes in the event `auth`.
 */
export async function socketIo(app: FastifyInstance, { hub, connections, upgrades }: SocketIoOptions): Promise<void> {
  const engine = new Engine({
    maxHttpBufferSize: MOST_MESSAGE_BYTES,
    pingInterval: ASK_EVERY_MS,
    pingTimeout: ANSWER_WITHIN_MS,
    perMessageDeflate: false,
    httpCompression: false,
  })
  const io = new Server<FromClient, ToClient>({ serveClient: false })
  io.bind(engine)

  const wires = createGroups<Wire>()
  const open = new WeakMap<EngineSocket, OpenConnection>()
  const conversations = createGroups<Conversation>()
  const memberships = new WeakMap<Conversation, Membership>()

  engine.on('connection', (conn: EngineSocket) => {
    const id = idOf(conn)
    if (conn.transport.name === 'websocket') wires.add(id, conn.request.socket)
    open.set(conn, openConnection(conn, { connections, wires, conversations }))
  })

  for (const name of NAMESPACES) {
    const namespace = io.of(name)
    namespace.use((socket, next) => void enter(socket, next))
    namespace.on('connection', (socket) => converse(socket))
  }

  async function enter(socket: Conversation, next: (error?: Error) => void): Promise<void> {
    try {
      await admit(socket)
      next()
    } catch (error) {
      const ending = endingOf(error)
      next(new Error(FAREWELLS[ending].message))
      // The refusal goes out first.
      setImmediate(() => open.get(socket.conn)?.end(ending))
    }
  }

  async function admit(socket: Conversation): Promise<void> {
    const { conn } = socket
    const connection = open.get(conn)
    const membership = await hub.admit(tokenOf(socket.handshake.auth), {
      send(notification) {
        socket.emit('notification', notification)
        connection?.sent()
      },
      end: (ending) => connection?.end(ending),
    })
    conn.once('close', () => membership.leave())
    if (conn.readyState !== 'open') membership.leave()
    memberships.set(socket, membership)
  }

  function converse(socket: Conversation): void {
    const connection = open.get(socket.conn)
    const membership = memberships.get(socket)
    const id = idOf(socket.conn)
    conversations.add(id, socket)
    connection?.setKnown(true)
    membership?.listen()
    socket.on('auth', (presented, acknowledge) => void renew(socket, tokenOf(presented), acknowledge))
    socket.once('disconnect', () => {
      membership?.leave()
      conversations.remove(id, socket)
      if (conversations.of(id).size === 0) connection?.setKnown(false)
    })
  }

  async function renew(socket: Conversation, token: string | null, acknowledge: unknown): Promise<void> {
    const membership = memberships.get(socket)
    try {
      await membership?.renew(token)
      if (typeof acknowledge === 'function') acknowledge({ expiresAt: membership?.expiresAt().toISOString() })
    } catch (error) {
      open.get(socket.conn)?.end(endingOf(error))
    }
  }

  // The engine reads bodies itself, and bounds them.
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
      const head = upgrades.headOf(request.raw)
      const id = new URL(request.raw.url ?? '/', 'http://localhost').searchParams.get('sid')
      if (head) {
        if (id !== null) keep(id, request.raw.socket)
        engine.handleUpgrade(request.raw, request.raw.socket, head)
        return
      }
      for (const [name, value] of Object.entries(reply.getHeaders())) {
        if (value !== undefined) reply.raw.setHeader(name, value)
      }
      if (id !== null && request.method === 'GET') keep(id, reply.raw)
      engine.handleRequest(request.raw, reply.raw)
    },
  })

  function keep(id: string, wire: Duplex | ServerResponse): void {
    wires.add(id, wire)
    wire.once('close', () => wires.remove(id, wire))
  }

  // An upgrade that was refused leaves a socket behind which nobody looks after.
  app.addHook('onResponse', async (request) => {
    if (upgrades.headOf(request.raw)) request.raw.socket.destroySoon()
  })

  app.addHook('onClose', async () => io.close())
}

function openConnection(
  conn: EngineSocket,
  parts: {
    connections: Connections
    wires: ReturnType<typeof createGroups<Wire>>
    conversations: ReturnType<typeof createGroups<Conversation>>
  },
): OpenConnection {
  const id = idOf(conn)
  let queued = 0

  const connection = parts.connections.open({
    transport: () => conn.transport.name as SocketTransport,
    outstanding: () => [...parts.wires.of(id)].reduce((sum, wire) => sum + wire.writableLength, queued),
    end(ending) {
      const { message, code, isFinal } = FAREWELLS[ending]
      for (const socket of [...parts.conversations.of(id)]) {
        socket.emit('error', { message, code })
        // Told by the protocol itself, a client does not try again.
        if (isFinal) socket.disconnect()
      }
      close()
    },
    destroy() {
      conn.close(true)
      for (const wire of [...parts.wires.of(id)]) wire.destroy()
    },
  })

  /**
   * A client that polls is told with its next poll. Were the engine asked before it, it would keep the connection for
   * half a minute, whatever it is told then.
   */
  function close(): void {
    const { transport } = conn
    if (transport.name !== 'polling' || transport.writable) conn.close()
    else transport.once('ready', close)
  }

  conn.on('packetCreate', ({ data = '' }: Packet) => void (queued += data.length))
  conn.on('flush', () => void (queued = 0))
  conn.on('packet', ({ type, data }: Packet) => {
    if (!connection.heard()) return
    if (type === 'message' && typeof data !== 'string') connection.end('garbled')
  })
  conn.on('upgrade', () => connection.moved())
  conn.once('close', (reason: string) => {
    if (reason === 'ping timeout') connection.end('slow')
    connection.closed()
  })
  return connection
}

interface Packet {
  type: string
  data?: string | Buffer
}

/** The type hides it, and every request of a client names it. */
function idOf(conn: EngineSocket): string {
  return (conn as unknown as { id: string }).id
}

function tokenOf(presented: unknown): string | null {
  const token = presented !== null && typeof presented === 'object' ? (presented as { token?: unknown }).token : null
  return typeof token === 'string' ? token : null
}
