import { systemClock, type Clock } from './clock.ts'
import { createStartSending } from './commands/notifications/start-sending.ts'
import { createLoginEvents } from './commands/users/login-events.ts'
import type { Config } from './config/schema.ts'
import { createClients, createPlatforms, type ClientOverrides } from './context/clients.ts'
import { createServices } from './context/services.ts'
import { createSetupReport } from './context/setup-report.ts'
import { storeSettings } from './config/stores.ts'
import type { AccessTokens } from './domain/users/access-tokens.ts'
import { createLogger, type Logger } from './logger.ts'
import type { PlatformRegistry } from './platforms/registry.ts'
import { createReadiness } from './readiness.ts'
import { createPseudonyms } from './security/pseudonyms.ts'
import { openDatabase, type Database } from './store/shared/database.ts'
import { createStores } from './store/stores.ts'
import { createMetrics } from './telemetry/metrics.ts'

interface Overrides extends ClientOverrides {
  logger?: Logger
  clock?: Clock
  platforms?: PlatformRegistry
  /** A database that may become reachable later. Without it `createContext` fails when the database does not answer. */
  database?: Database
}

/** Creates the parts of a process: its stores, its clients of other servers, and the services over both. */
export async function createContext(config: Config, overrides: Overrides = {}) {
  const logger = overrides.logger ?? createLogger(config.LOG_LEVEL)
  const clock = overrides.clock ?? systemClock
  const metrics = createMetrics()
  const draining = new AbortController()
  const database = overrides.database ?? (await openDatabase(config.MONGODB_URL))

  const clients = createClients({ config, logger, metrics, overrides })
  const loginEvents = createLoginEvents({ logger, metrics, pseudonyms: createPseudonyms(config.REFRESH_TOKEN_SECRET) })
  const stores = createStores({
    database,
    now: () => clock.now(),
    onPendingEvents: (post) => services.eventRelay.add([post]),
    sending: {
      findRoutes: (notifications) => services.findRoutes(notifications),
      begin: createStartSending({ ...clients, logger }),
    },
    onLoginLimit: loginEvents.throttled,
    settings: storeSettings(config),
  })
  const platforms = createPlatforms({ config, logger, metrics, stores, clients, registry: overrides.platforms })
  const services = createServices(config, { clock, logger, metrics, database, ...stores, ...clients, platforms })

  return {
    config,
    logger,
    clock,
    metrics,
    database,
    ...stores,
    ...clients,
    ...services,
    platforms,
    loginEvents,

    /** Aborts when this process is asked to stop. From then on it is not ready for new work. */
    draining: draining.signal,
    readiness: createReadiness({ database, clock, draining: draining.signal }),
    drain: (): void => draining.abort(new Error('This process is stopping')),

    /** Checks every part that an operator sets up (`GET /api/admin/setup`). */
    reportSetup: createSetupReport({ config, clock, clients, sealedSecrets: services.sealedSecrets }),

    /** The problems that prevent publishing now, as sentences (`GET /health/delivery`). */
    async deliveryHealth(): Promise<string[]> {
      const found = await Promise.all([
        clients.orchestrator.findProblems(config.SWEEP_INTERVAL_MS, config.WORKER_SILENCE_MS),
        findProblem(database.ping(), 'The database does not answer'),
        findProblem(clients.storage.ping(), 'Object storage does not answer'),
        services.sealedSecrets.findMissingKeys().then(
          (keyIds) => keyIds.map((keyId) => `Stored secrets need the encryption key ${keyId}, which is not configured`),
          () => [],
        ),
      ])
      return found.flat()
    },

    async close(): Promise<void> {
      await services.startQueue.close()
      await services.eventRelay.close()
      services.wakeWebhooks.close()
      await Promise.allSettled([
        clients.orchestrator.close(),
        platforms.close(),
        clients.push?.close(),
        clients.mailer.close(),
        clients.webhookSender.close(),
        clients.pages.close(),
      ])
      clients.storage.close()
      await database.close()
    },
  }
}

/** Returns the problem when the check fails, else an empty list. */
function findProblem(check: Promise<void>, problem: string): Promise<string[]> {
  return check.then(
    () => [],
    () => [problem],
  )
}

export type Context = Awaited<ReturnType<typeof createContext>>

/** The context of the API, whose app issues the access tokens (`api/plugins/access-tokens.ts`). */
export type ApiContext = Context & { accessTokens: AccessTokens }
