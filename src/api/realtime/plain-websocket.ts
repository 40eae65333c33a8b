import websocket, { type WebSocket } from '@fastify/websocket'
import { Type } from '@sinclair/typebox'
import type { FastifyInstance } from 'fastify'
import { ServiceError } from '../../domain/shared/service-error.ts'
import type { SocketEndReason } from '../../telemetry/metrics.ts'
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
 * The plain WebSocket transport. The client authenticates with its first message or with the Authorization header. It then receives
 * `ready` and all following notifications.
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
    // The protocol has already closed the socket after a message that is too large, not UTF-8 or not a valid frame.
    errorHandler: (_error, socket) => socket.close(),
    preClose: (done) => done(),
  })

  app.route({
    method: 'GET',
    url: '/',
    exposeHeadRoute: false,
    config: { isStream: true },
    schema: {
      ...operation('notifications', 'streamNotifications', 'Receive notifications in real time over a WebSocket', {
        description:
          'Send `{"auth": {"token": "<access token>"}}` within 10 s, or the Authorization header. After `{"event": "ready"}`, each notification ' +
          'arrives as `{"event": "notification", "data": {..}}`. Send the message again with a new token before the old one expires. Socket.IO 4 ' +
          'clients connect to `/socket.io` instead (`auth.token`, events `notification` and `auth`).',
        errors: ['UPGRADE_REQUIRED', 'FORBIDDEN'],
        security: [{ bearer: [] }, {}],
      }),
      response: { 101: Type.Null({ description: 'The connection is now a WebSocket' }), ...errorResponses },
    },
    handler: async (_request, reply) => {
      reply.header('upgrade', 'websocket')
      throw new ServiceError(
        'UPGRADE_REQUIRED',
        'This URL only accepts WebSocket connections. Connect with a WebSocket client.',
      )
    },
    wsHandler: (socket, request) => serveSocket(socket, parseBearerToken(request), { hub, connections }),
  })
}

function serveSocket(
  socket: WebSocket,
  headerToken: string | null,
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
    end: (ending: SocketEndReason) => open.end(ending),
  }

  async function authenticate(token: string): Promise<void> {
    try {
      if (membership) await membership.renew(token)
      else membership = await hub.admit(token, listener)
      if (socket.readyState !== socket.OPEN) return membership.leave()
      open.setAuthenticated(true)
      membership.listen()
      sendEvent('ready', { expiresAt: membership.expiresAt().toISOString() })
    } catch (error) {
      open.end(toSocketEnding(error))
    }
  }

  /** Authenticates with a token after all previous ones, so that the last token counts. */
  function queueAuthentication(token: string): void {
    authenticated = authenticated.then(() => authenticate(token))
  }

  socket.on('message', (data: Buffer, isBinary) => {
    heartbeat.markAlive()
    if (!open.countMessage()) return
    const presented = isBinary ? null : parseToken(data.toString())
    if (presented === null) open.end('malformed')
    else queueAuthentication(presented)
  })
  socket.on('ping', () => open.countMessage())
  socket.once('close', () => {
    membership?.leave()
    open.remove()
  })
  if (headerToken !== null) queueAuthentication(headerToken)
}

/** Returns the token of `{"auth": {"token": ".."}}`, or null for any other message. */
function parseToken(text: string): string | null {
  try {
    const message = JSON.parse(text) as { auth?: { token?: unknown } } | null
    const token = message?.auth?.token
    return typeof token === 'string' ? token : null
  } catch {
    return null
  }
}

/** Pings the client. Nothing else detects a client that vanished or stopped reading. */
function createHeartbeat(socket: WebSocket, now: () => number) {
  let lastSeenAt = now()
  let pingedAt: number | null = null
  const markAlive = () => {
    lastSeenAt = now()
    pingedAt = null
  }
  socket.on('pong', markAlive)

  return {
    markAlive,
    isAlive(at: number): boolean {
      if (pingedAt !== null) return at - pingedAt <= PONG_TIMEOUT_MS
      if (at - lastSeenAt < PING_INTERVAL_MS) return true
      pingedAt = at
      socket.ping()
      return true
    },
  }
}
