import type { FastifyInstance } from 'fastify'
import type { ApiContext } from '../../context.ts'
import { SECOND } from '../../domain/shared/times.ts'
import { ownOriginOnly } from '../plugins/browsers.ts'
import { createConnections } from './connections.ts'
import { createHub } from './hub.ts'
import { plainStream } from './plain.ts'
import { socketIo } from './socket-io.ts'
import { routeUpgrades, SOCKET_IO_PATH, STREAM_PATH } from './upgrades.ts'

const TICK_MS = SECOND
/** The share of the grace time in which clients may close their side. */
const FAREWELL_SHARE = 0.2

/** Notifications at once, to every socket of their user on whatever API process it is: one hub, two transports. */
export async function realtime(app: FastifyInstance, { context }: { context: ApiContext }): Promise<void> {
  const { config } = context
  const hub = createHub(context, { socketsPerUser: config.SOCKETS_PER_USER })
  const connections = createConnections(context, {
    most: config.SOCKETS_PER_PROCESS,
    mostStrangers: config.SOCKETS_WITHOUT_TOKEN,
  })
  const upgrades = routeUpgrades(app)

  app.addHook('onRequest', ownOriginOnly(config))
  app.addHook('onRequest', async ({ query }) => {
    // With an id it belongs to a connection there is; which ones there are, the engine knows.
    if (!(query as { sid?: string }).sid) connections.assertRoom()
  })
  await app.register(plainStream, { prefix: STREAM_PATH, hub, connections, upgrades })
  await app.register(socketIo, { prefix: SOCKET_IO_PATH, hub, connections, upgrades })

  const timer = setInterval(() => {
    connections.tick()
    hub.tick()
  }, TICK_MS).unref()

  app.addHook('preClose', async () => {
    upgrades.refuse()
    await connections.endAll('stopping', Math.min(SECOND, config.SHUTDOWN_GRACE_MS * FAREWELL_SHARE))
    upgrades.cut()
  })
  app.addHook('onClose', async () => {
    clearInterval(timer)
    hub.close()
  })
}
