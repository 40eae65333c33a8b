import type { FastifyInstance } from 'fastify'
import type { ApiContext } from '../../context.ts'
import { SECOND } from '../../domain/shared/times.ts'
import { requireOwnOrigin } from '../plugins/browser-security.ts'
import { createConnections } from './connections.ts'
import { createHub } from './hub.ts'
import { plainWebSocket } from './plain-websocket.ts'
import { socketIo } from './socket-io.ts'
import { routeUpgrades, SOCKET_IO_PATH, STREAM_PATH } from './upgrades.ts'

const TICK_MS = SECOND
/** The share of the grace time in which clients may close their side. */
const CLOSE_GRACE_SHARE = 0.2

/** Notifications at once, to every socket of their user on whatever API process it is: one hub, two transports. */
export async function realtime(app: FastifyInstance, { context }: { context: ApiContext }): Promise<void> {
  const { config } = context
  const hub = createHub(context, { socketsPerUser: config.SOCKETS_PER_USER })
  const connections = createConnections(context, {
    maxConnections: config.SOCKETS_PER_PROCESS,
    maxUnauthenticated: config.SOCKETS_WITHOUT_TOKEN,
  })
  const upgrades = routeUpgrades(app)

  app.addHook('onRequest', requireOwnOrigin(config))
  app.addHook('onRequest', async ({ query }) => {
    // With an id it belongs to a connection there is; which ones there are, the engine knows.
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
    hub.close()
  })
}
