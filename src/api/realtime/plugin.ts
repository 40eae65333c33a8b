import type { FastifyInstance } from 'fastify'
import type { ApiContext } from '../../context.ts'
import { SECOND } from '../../domain/shared/times.ts'
import type { SharedChanges } from '../shared/shared-changes.ts'
import { requireOwnOrigin } from '../plugins/browser-security.ts'
import { createConnections } from './connections.ts'
import { createHub } from './hub.ts'
import { plainWebSocket } from './plain-websocket.ts'
import { socketIo } from './socket-io.ts'
import { routeUpgrades, SOCKET_IO_PATH, STREAM_PATH } from './upgrades.ts'

const TICK_MS = SECOND
/** The share of the shutdown grace time that clients have to close their side. */
const CLOSE_GRACE_SHARE = 0.2

interface RealtimeOptions {
  context: ApiContext
  changes: SharedChanges
}

/** Real-time notifications for every connection of a user, on any API process: a shared hub with two transports. */
export async function realtime(app: FastifyInstance, { context, changes }: RealtimeOptions): Promise<void> {
  const { config } = context
  const hub = createHub(context, changes, { socketsPerUser: config.SOCKETS_PER_USER })
  const connections = createConnections(context, {
    maxConnections: config.SOCKETS_PER_PROCESS,
    maxUnauthenticated: config.SOCKETS_WITHOUT_TOKEN,
  })
  const upgrades = routeUpgrades(app)

  app.addHook('onRequest', requireOwnOrigin(config))
  app.addHook('onRequest', async ({ query }) => {
    // A request with an id belongs to an existing connection; the engine checks the id.
    if (!(query as { sid?: string }).sid) connections.assertCapacity()
  })
  await app.register(plainWebSocket, { prefix: STREAM_PATH, hub, connections, upgrades })
  await app.register(socketIo, { prefix: SOCKET_IO_PATH, hub, connections, upgrades })

  const timer = setInterval(() => {
    connections.tick()
    hub.tick()
  }, TICK_MS).unref()

  app.addHook('preClose', async () => {
    upgrades.stopAccepting()
    await connections.endAll('stopping', Math.min(SECOND, config.SHUTDOWN_GRACE_MS * CLOSE_GRACE_SHARE))
    upgrades.destroyAll()
  })
  app.addHook('onClose', async () => {
    clearInterval(timer)
  })
}
