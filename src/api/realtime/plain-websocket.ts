import websocket, { type WebSocket } from '@fastify/websocket'
import { Type } from '@sinclair/typebox'
import type { FastifyInstance } from 'fastify'
import { ServiceError } from '../../domain/shared/service-error.ts'
import type { SocketEnding } from '../../telemetry/metrics.ts'
import { operation } from '../openapi/operation.ts'
import { parseBearerToken } from '../plugins/access-tokens.ts'
import { errorResponses } from '../shared/schemas/envelope.ts'
import {
  PONG_TIMEOUT_MS,
  PING_INTERVAL_MS,
  MAX_MESSAGE_BYTES,
  type Connections,
  type OpenConnection,
} from './connections.ts'
import { toSocketEnding, CLOSE_DETAILS } from './close-details.ts'
import type { Hub, Membership } from './hub.ts'
import type { Upgrades } from './upgrades.ts'

interface PlainWebSocketOptions {
  hub: Hub
  connections: Connections
  upgrades: Upgrades
}

/**
 * The plain transport of contract section 9. The client says who it is by its first message, or by the Authorization header of the
 * request; it is told `ready`, and from then on every notification.
 */
export async function plainWebSocket(
  app: FastifyInstance,
  { hub, connections, upgrades }: PlainWebSocketOptions,
): Promise<void> {
  await app.register(websocket, {
    options: {
      server: upgrades.source as FastifyInstance['server'],
      maxPayload: MAX_MESSAGE_BYTES,
      perMessageDeflate: false,
      clientTracking: false,
    },
    // Too large, not UTF-8, not a frame: the protocol has closed it already.
    errorHandler: (_error, socket) => socket.close(),
    preClose: (done) => done(),
  })

  app.route({
    method: 'GET',
    url: '/',
    exposeHeadRoute: false,
    config: { isStream: true },
    schema: {
      ...operation('notifications', 'streamNotifications', 'Hear of notifications at once, over a WebSocket', {
        description:
          'Send `{"auth": {"token": "<access token>"}}` within 10 s, or the Authorization header. After `{"event": "ready"}` every notification ' +
          'comes as `{"event": "notification", "data": {..}}`. Send the message again with a fresh token before the old one ends. Socket.IO 4 ' +
          'clients listen at `/socket.io` (`auth.token`, events `notification` and `auth`) instead.',
        errors: ['UPGRADE_REQUIRED', 'FORBIDDEN'],
        security: [{ bearer: [] }, {}],
      }),
      response: { 101: Type.Null({ description: 'The connection is a WebSocket from now on' }), ...errorResponses },
    },
    handler: async (_request, reply) => {
      reply.header('upgrade', 'websocket')
      throw new ServiceError('UPGRADE_REQUIRED', 'This address is for WebSocket connections')
    },
    wsHandler: (socket, request) => serveSocket(socket, parseBearerToken(request), { hub, connections }),
  })
}

function serveSocket(
  socket: WebSocket,
  token: string | null,
  { hub, connections }: Omit<PlainWebSocketOptions, 'upgrades'>,
): void {
  const heartbeat = createHeartbeat(socket, connections.now)
  let membership: Membership | null = null
  let authenticated = Promise.resolve()

  const open: OpenConnection = connections.open({
    transport: () => 'plain',
    bufferedBytes: () => socket.bufferedAmount,
    end(ending) {
      const { message, code, closeCode } = CLOSE_DETAILS[ending]
      sendEvent('error', { message, code })
      socket.close(closeCode, message)
    },
    destroy: () => socket.terminate(),
    isAlive: heartbeat.isAlive,
  })

  function sendEvent(event: string, data: object): void {
    if (socket.readyState === socket.OPEN) socket.send(JSON.stringify({ event, data }))
  }

  const listener = {
    send(notification: object) {
      sendEvent('notification', notification)
      open.checkBuffer()
    },
    end: (ending: SocketEnding) => open.end(ending),
  }

  async function authenticate(presented: string): Promise<void> {
    try {
      if (membership) await membership.renew(presented)
      else membership = await hub.admit(presented, listener)
      if (socket.readyState !== socket.OPEN) return membership.leave()
      open.setAuthenticated(true)
      membership.listen()
      sendEvent('ready', { expiresAt: membership.expiresAt().toISOString() })
    } catch (error) {
      open.end(toSocketEnding(error))
    }
  }

  /** One token after the other: the last one counts. */
  function present(presented: string): void {
    authenticated = authenticated.then(() => authenticate(presented))
  }

  socket.on('message', (data: Buffer, isBinary) => {
    heartbeat.heard()
    if (!open.countMessage()) return
    const presented = isBinary ? null : parseToken(data.toString())
    if (presented === null) open.end('garbled')
    else present(presented)
  })
  socket.on('ping', () => open.countMessage())
  socket.once('close', () => {
    membership?.leave()
    open.remove()
  })
  if (token !== null) present(token)
}

/** The token of `{"auth": {"token": ".."}}`, or null for any other message. */
function parseToken(text: string): string | null {
  try {
    const message = JSON.parse(text) as { auth?: { token?: unknown } } | null
    const token = message?.auth?.token
    return typeof token === 'string' ? token : null
  } catch {
    return null
  }
}

/** Pings, since a client that went away without a word, or stopped reading, shows in no other way. */
function createHeartbeat(socket: WebSocket, now: () => number) {
  let lastSeenAt = now()
  let pingedAt: number | null = null
  const heard = () => {
    lastSeenAt = now()
    pingedAt = null
  }
  socket.on('pong', heard)

  return {
    heard,
    isAlive(at: number): boolean {
      if (pingedAt !== null) return at - pingedAt <= PONG_TIMEOUT_MS
      if (at - lastSeenAt < PING_INTERVAL_MS) return true
      pingedAt = at
      socket.ping()
      return true
    },
  }
}
