import { Server as Engine } from 'engine.io'
import type { FastifyInstance } from 'fastify'
import { Server } from 'socket.io'
import {
  ANSWER_WITHIN_MS,
  ASK_EVERY_MS,
  MOST_MESSAGE_BYTES,
  type Connections,
  type OpenConnection,
} from './connections.ts'
import { endingOf, FAREWELLS } from './endings.ts'
import {
  idOf,
  openConnection,
  type Conversation,
  type EngineSocket,
  type FromClient,
  type ToClient,
  type Wire,
} from './engine-connection.ts'
import { createGroups } from './groups.ts'
import type { Hub, Membership } from './hub.ts'
import type { Upgrades } from './upgrades.ts'

interface SocketIoOptions {
  hub: Hub
  connections: Connections
  upgrades: Upgrades
}

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

  /** By the id of their connection. */
  const wires = createGroups<Wire>()
  const open = new WeakMap<EngineSocket, OpenConnection>()
  const conversations = createGroups<Conversation>()
  const memberships = new WeakMap<Conversation, Membership>()

  engine.on('connection', (conn: EngineSocket) => {
    const id = idOf(conn)
    if (conn.transport.name === 'websocket') keep(id, conn.request.socket)
    open.set(conn, openConnection(conn, connections, { wires: wires.of, conversations: conversations.of }))
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

  function keep(id: string, wire: Wire): void {
    wires.add(id, wire)
    wire.once('close', () => wires.remove(id, wire))
  }

  // An upgrade that was refused leaves a socket behind which nobody looks after.
  app.addHook('onResponse', async (request) => {
    if (upgrades.headOf(request.raw)) request.raw.socket.destroySoon()
  })

  app.addHook('onClose', async () => io.close())
}

function tokenOf(presented: unknown): string | null {
  const token = presented !== null && typeof presented === 'object' ? (presented as { token?: unknown }).token : null
  return typeof token === 'string' ? token : null
}
