import type { Socket } from 'node:net'
import type { TypeBoxTypeProvider } from '@fastify/type-provider-typebox'
import Fastify, { LogController, type FastifyBaseLogger, type FastifyInstance, type RouteOptions } from 'fastify'
import type { Config } from '../config/schema.ts'
import type { ApiContext, Context } from '../context.ts'
import { parseList } from '../domain/shared/lists.ts'
import { SECOND } from '../domain/shared/times.ts'
import { adminOperationsRoutes } from './admin/operations-routes.ts'
import { adminRoutes } from './admin/routes.ts'
import { adminUserRoutes } from './admin/user-routes.ts'
import { analyticsRoutes } from './analytics/routes.ts'
import { authRoutes } from './auth/routes.ts'
import { captionRoutes } from './captions/routes.ts'
import { consolePages, readConsoleOptions } from './console/console.ts'
import { sendFrameworkError, sendSocketError, installErrorHandling } from './shared/errors.ts'
import { oddRecords } from './shared/odd-records.ts'
import { createSharedChanges, type SharedChanges } from './shared/shared-changes.ts'
import { eventRoutes } from './events/routes.ts'
import { exportRoutes } from './imports/export-routes.ts'
import { importRoutes } from './imports/routes.ts'
import { groupRoutes } from './groups/routes.ts'
import { slotRoutes } from './slots/routes.ts'
import { healthRoutes } from './health/routes.ts'
import { deviceRoutes } from './notifications/device-routes.ts'
import { notificationRoutes } from './notifications/routes.ts'
import { keyRoutes } from './keys/routes.ts'
import { ADMIN_SECURITY, toUserSecurity } from './openapi/operation.ts'
import { paymentRoutes } from './payments/routes.ts'
import { webhookRoutes as paymentWebhookRoutes } from './payments/webhook-routes.ts'
import { callbackRoutes } from './platforms/callback-routes.ts'
import { platformRoutes } from './platforms/routes.ts'
import { accessTokens } from './plugins/access-tokens.ts'
import { browserSecurity } from './plugins/browser-security.ts'
import { deadlines } from './plugins/deadlines.ts'
import { guards } from './plugins/guards.ts'
import { ANONYMOUS_BODY_BYTES, AUTHENTICATED_BODY_BYTES, jsonBodies } from './plugins/json-bodies.ts'
import { openapi } from './plugins/openapi.ts'
import { rateLimits } from './plugins/rate-limits.ts'
import { readinessGuard } from './plugins/readiness-guard.ts'
import { requestMetrics } from './plugins/request-metrics.ts'
import { toRequestId, requestLog } from './plugins/request-log.ts'
import { routing } from './plugins/routing.ts'
import { untrustedProxies } from './plugins/untrusted-proxies.ts'
import { validation } from './plugins/validation.ts'
import { postsRoutes } from './posts/routes.ts'
import { dataRoutes } from './profile/data-routes.ts'
import { profileRoutes } from './profile/routes.ts'
import { realtime } from './realtime/plugin.ts'
import { isWebSocketRequest } from './realtime/upgrades.ts'
import { ErrorBodySchema } from './shared/schemas/envelope.ts'
import { webhookRoutes } from './webhooks/routes.ts'
import { statusRoutes } from './status/routes.ts'

/** Allows the push token of a device in a path. Other parameters longer than an id get a 404. */
const MAX_PARAM_LENGTH = 2_048

/**
 * These three together cut off a client that sends its request slowly. The timeouts cover all headers and the whole request, and
 * Node checks them only every `connectionsCheckingInterval`.
 */
const HEADERS_TIMEOUT_MS = 5 * SECOND
const REQUEST_TIMEOUT_MS = 10 * SECOND
const CONNECTIONS_CHECK_MS = SECOND

/** Builds the API without opening a port. */
export async function buildApp(parts: Context): Promise<FastifyInstance> {
  const { config } = parts
  const logger: FastifyBaseLogger = parts.logger
  const app = Fastify({
    loggerInstance: logger,
    logController: new LogController({ disableRequestLogging: true, requestIdLogLabel: 'requestId' }),
    genReqId: toRequestId,
    trustProxy: readTrustedProxies(config),
    bodyLimit: ANONYMOUS_BODY_BYTES,
    requestTimeout: REQUEST_TIMEOUT_MS,
    http: {
      headersTimeout: HEADERS_TIMEOUT_MS,
      requestTimeout: REQUEST_TIMEOUT_MS,
      connectionsCheckingInterval: CONNECTIONS_CHECK_MS,
      shouldUpgradeCallback: isWebSocketRequest,
    },
    // During shutdown, requests on open connections are still served; /health/ready has already informed the load balancer.
    return503OnClosing: false,
    routerOptions: { ignoreTrailingSlash: true, maxParamLength: MAX_PARAM_LENGTH },
    frameworkErrors: sendFrameworkError,
    clientErrorHandler: (error: Error & { code?: string }, socket: Socket) => sendSocketError(error, socket),
  }).withTypeProvider<TypeBoxTypeProvider>()

  app.addSchema(ErrorBodySchema)
  installErrorHandling(app)
  await app.register(requestLog)
  await app.register(accessTokens, { config })
  const context: ApiContext = { ...parts, accessTokens: app.accessTokens }
  await app.register(requestMetrics, { context })
  await app.register(deadlines)
  await app.register(routing)
  await app.register(openapi)
  await app.register(jsonBodies, { context })
  await app.register(validation)
  await app.register(oddRecords)
  await app.register(browserSecurity, { config })
  await app.register(untrustedProxies)
  await app.register(rateLimits, { config })
  await app.register(readinessGuard, { context })
  await app.register(guards, { context })

  closeConnectionsOnShutdown(app, config)

  await app.register(healthRoutes, { prefix: '/health', context })
  const changes = createSharedChanges(context)
  app.addHook('onClose', async () => changes.close())
  await app.register(registerPublicRoutes, { context, changes })
  await app.register(registerUserRoutes, { context, changes })
  await app.register(registerAdminRoutes, { context })
  if (config.CONSOLE === 'on') await app.register(consolePages, readConsoleOptions(config))
  return app
}

interface RoutesOptions {
  context: ApiContext
}

interface LiveRoutesOptions extends RoutesOptions {
  changes: SharedChanges
}

/** Registers the public routes. Routes among them that need a session require it themselves. */
async function registerPublicRoutes(app: FastifyInstance, { context, changes }: LiveRoutesOptions): Promise<void> {
  app.addHook('onRequest', app.requireReady)
  await app.register(authRoutes, { prefix: '/api/auth', context })
  await app.register(callbackRoutes, { prefix: '/api/platform', context })
  await app.register(paymentWebhookRoutes, { prefix: '/api/payments', context })
  await app.register(realtime, { context, changes })
}

/** Registers the routes for authenticated users. The guard here covers all of them. */
async function registerUserRoutes(app: FastifyInstance, { context, changes }: LiveRoutesOptions): Promise<void> {
  app.addHook('onRequest', app.requireReady)
  app.addHook('onRequest', app.requireUser)
  app.addHook('onRoute', applySessionDefaults)
  await app.register(keyRoutes, { prefix: '/api/keys', context })
  await app.register(postsRoutes, { prefix: '/api/posts', context })
  await app.register(importRoutes, { prefix: '/api/imports', context })
  await app.register(exportRoutes, { prefix: '/api/exports', context })
  await app.register(analyticsRoutes, { prefix: '/api/analytics', context })
  await app.register(platformRoutes, { prefix: '/api/platform', context })
  await app.register(groupRoutes, { prefix: '/api/groups', context })
  await app.register(slotRoutes, { prefix: '/api/slots', context })
  await app.register(eventRoutes, { prefix: '/api/events', context, changes })
  await app.register(notificationRoutes, { prefix: '/api/notifications', context })
  await app.register(webhookRoutes, { prefix: '/api/webhooks', context })
  await app.register(profileRoutes, { prefix: '/api/profile', context })
  await app.register(captionRoutes, { prefix: '/api/generate', context })
  await app.register(paymentRoutes, { prefix: '/api/payments', context })
  await app.register(deviceRoutes, { prefix: '/api', context })
  await app.register(dataRoutes, { prefix: '/api/profile', context })
}

/** Registers the admin routes. */
async function registerAdminRoutes(app: FastifyInstance, { context }: RoutesOptions): Promise<void> {
  app.addHook('onRequest', app.requireReady)
  app.addHook('onRequest', app.requireAdmin)
  app.addHook('onRoute', applyAdminDefaults)
  await app.register(adminRoutes, { prefix: '/api/admin', context })
  await app.register(adminUserRoutes, { prefix: '/api/admin', context })
  await app.register(adminOperationsRoutes, { prefix: '/api/admin', context })
  await app.register(statusRoutes, { prefix: '/api/status', context })
}

/** Allows larger bodies: the guard has checked the session before the body is read. */
function applySessionDefaults(route: RouteOptions): void {
  route.schema = { security: toUserSecurity(route.schema ?? {}), ...route.schema }
  route.bodyLimit ??= AUTHENTICATED_BODY_BYTES
}

function applyAdminDefaults(route: RouteOptions): void {
  route.schema = { security: ADMIN_SECURITY, keyScope: 'refused', ...route.schema }
  applySessionDefaults(route)
}

/**
 * Closes all connections at 80 percent of the shutdown grace time. A closing Node server no longer checks for slow requests, and
 * a single one could block the shutdown forever. Requests in progress have their own deadlines.
 */
function closeConnectionsOnShutdown(app: FastifyInstance, { SHUTDOWN_GRACE_MS }: Config): void {
  app.addHook('preClose', async () => {
    setTimeout(() => app.server.closeAllConnections(), SHUTDOWN_GRACE_MS * 0.8).unref()
  })
}

function readTrustedProxies(config: Config): string[] | false {
  const proxies = parseList(config.TRUSTED_PROXIES).filter((proxy) => proxy !== 'none')
  return proxies.length > 0 ? proxies : false
}
