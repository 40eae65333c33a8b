import type { Socket } from 'node:net'
import type { TypeBoxTypeProvider } from '@fastify/type-provider-typebox'
import Fastify, { LogController, type FastifyBaseLogger, type FastifyInstance, type RouteOptions } from 'fastify'
import type { Config } from '../config/schema.ts'
import type { ApiContext, Context } from '../context.ts'
import { parseList } from '../domain/shared/lists.ts'
import { SECOND } from '../domain/shared/times.ts'
import { administrationRoutes } from './admin/routes.ts'
import { analyticsRoutes } from './analytics/routes.ts'
import { authRoutes } from './auth/routes.ts'
import { captionRoutes } from './captions/routes.ts'
import { answerFrameworkError, answerSocketError, installErrorHandling } from './shared/errors.ts'
import { healthRoutes } from './health/routes.ts'
import { deviceRoutes } from './notifications/device-routes.ts'
import { notificationRoutes } from './notifications/routes.ts'
import { ADMIN_SECURITY } from './openapi/operation.ts'
import { paymentRoutes } from './payments/routes.ts'
import { webhookRoutes } from './payments/webhook-routes.ts'
import { callbackRoutes } from './platforms/callback-routes.ts'
import { platformRoutes } from './platforms/routes.ts'
import { accessTokens } from './plugins/access-tokens.ts'
import { browsers } from './plugins/browsers.ts'
import { deadlines } from './plugins/deadlines.ts'
import { guards } from './plugins/guards.ts'
import { ANONYMOUS_BODY_BYTES, AUTHENTICATED_BODY_BYTES, jsonBodies } from './plugins/json-bodies.ts'
import { openapi } from './plugins/openapi.ts'
import { rateLimits } from './plugins/rate-limits.ts'
import { readyToServe } from './plugins/ready-to-serve.ts'
import { requestFigures } from './plugins/request-figures.ts'
import { requestIdOf, requestLog } from './plugins/request-log.ts'
import { routing } from './plugins/routing.ts'
import { untrustedProxies } from './plugins/untrusted-proxies.ts'
import { validation } from './plugins/validation.ts'
import { postsRoutes } from './posts/routes.ts'
import { dataRoutes } from './profile/data-routes.ts'
import { profileRoutes } from './profile/routes.ts'
import { realtime } from './realtime/plugin.ts'
import { isWebSocketRequest } from './realtime/upgrades.ts'
import { ErrorBodySchema } from './shared/schemas/envelope.ts'
import { statusRoutes } from './status/routes.ts'

/** Room for the token of a device; other parameters that are longer than an id are just not found. */
const MAX_PARAM_LENGTH = 2_048

/**
 * Only these three together cut off a client that trickles its request (safety section 2, finding 5): the limits hold for
 * the whole of the headers and of the request, and Node looks at them only every `connectionsCheckingInterval`.
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
    genReqId: requestIdOf,
    trustProxy: trustedProxies(config),
    bodyLimit: ANONYMOUS_BODY_BYTES,
    requestTimeout: REQUEST_TIMEOUT_MS,
    http: {
      headersTimeout: HEADERS_TIMEOUT_MS,
      requestTimeout: REQUEST_TIMEOUT_MS,
      connectionsCheckingInterval: CONNECTIONS_CHECK_MS,
      shouldUpgradeCallback: isWebSocketRequest,
    },
    // While stopping, what still arrives on open connections is served: the load balancer has been told by /health/ready.
    return503OnClosing: false,
    routerOptions: { ignoreTrailingSlash: true, maxParamLength: MAX_PARAM_LENGTH },
    frameworkErrors: answerFrameworkError,
    clientErrorHandler: (error: Error & { code?: string }, socket: Socket) => answerSocketError(error, socket),
  }).withTypeProvider<TypeBoxTypeProvider>()

  app.addSchema(ErrorBodySchema)
  installErrorHandling(app)
  await app.register(requestLog)
  await app.register(accessTokens, { config })
  const context: ApiContext = { ...parts, accessTokens: app.accessTokens }
  await app.register(requestFigures, { context })
  await app.register(deadlines)
  await app.register(routing)
  await app.register(openapi)
  await app.register(jsonBodies, { context })
  await app.register(validation)
  await app.register(browsers, { config })
  await app.register(untrustedProxies)
  await app.register(rateLimits, { config })
  await app.register(readyToServe, { context })
  await app.register(guards, { context })

  closeInTime(app, config)

  await app.register(healthRoutes, { prefix: '/health', context })
  await app.register(publicRoutes, { context })
  await app.register(userRoutes, { context })
  await app.register(adminRoutes, { context })
  return app
}

interface RoutesOptions {
  context: ApiContext
}

/** Open to everyone; what needs a session in here asks for it route by route. */
async function publicRoutes(app: FastifyInstance, { context }: RoutesOptions): Promise<void> {
  app.addHook('onRequest', app.requireReady)
  await app.register(authRoutes, { prefix: '/api/auth', context })
  await app.register(callbackRoutes, { prefix: '/api/platform', context })
  await app.register(webhookRoutes, { prefix: '/api/payments', context })
  await app.register(realtime, { context })
}

/** For authenticated users: every route in here is guarded, whatever its own file says. */
async function userRoutes(app: FastifyInstance, { context }: RoutesOptions): Promise<void> {
  app.addHook('onRequest', app.requireReady)
  app.addHook('onRequest', app.requireUser)
  app.addHook('onRoute', applySessionDefaults)
  await app.register(postsRoutes, { prefix: '/api/posts', context })
  await app.register(analyticsRoutes, { prefix: '/api/analytics', context })
  await app.register(platformRoutes, { prefix: '/api/platform', context })
  await app.register(notificationRoutes, { prefix: '/api/notifications', context })
  await app.register(profileRoutes, { prefix: '/api/profile', context })
  await app.register(captionRoutes, { prefix: '/api/generate', context })
  await app.register(paymentRoutes, { prefix: '/api/payments', context })
  await app.register(deviceRoutes, { prefix: '/api', context })
  await app.register(dataRoutes, { prefix: '/api/profile', context })
}

/** For admins alone. */
async function adminRoutes(app: FastifyInstance, { context }: RoutesOptions): Promise<void> {
  app.addHook('onRequest', app.requireReady)
  app.addHook('onRequest', app.requireAdmin)
  app.addHook('onRoute', asksForAdmin)
  await app.register(administrationRoutes, { prefix: '/api/admin', context })
  await app.register(statusRoutes, { prefix: '/api/status', context })
}

/** The session is checked before the body is read, so its bearer may send more than anyone may. */
function applySessionDefaults(route: RouteOptions): void {
  route.schema = { security: [{ bearer: [] }], ...route.schema }
  route.bodyLimit ??= AUTHENTICATED_BODY_BYTES
}

function asksForAdmin(route: RouteOptions): void {
  route.schema = { security: ADMIN_SECURITY, ...route.schema }
  applySessionDefaults(route)
}

/**
 * Once it closes, Node no longer looks for connections that trickle their request, and one of them could hold the process
 * for ever. Requests in flight have their deadlines; what is still open shortly before the grace time ends is cut.
 */
function closeInTime(app: FastifyInstance, { SHUTDOWN_GRACE_MS }: Config): void {
  app.addHook('preClose', async () => {
    setTimeout(() => app.server.closeAllConnections(), SHUTDOWN_GRACE_MS * 0.8).unref()
  })
}

function trustedProxies(config: Config): string[] | false {
  const proxies = parseList(config.TRUSTED_PROXIES).filter((proxy) => proxy !== 'none')
  return proxies.length > 0 ? proxies : false
}
