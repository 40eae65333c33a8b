import swagger from '@fastify/swagger'
import swaggerUi from '@fastify/swagger-ui'
import type { FastifyInstance } from 'fastify'
import fastifyPlugin from 'fastify-plugin'
import manifest from '../../../package.json' with { type: 'json' }
import { API_KEY_PREFIX } from '../../domain/users/api-keys.ts'
import { finishDocument, toDocumentedRoute } from '../openapi/document.ts'

/** Serves the OpenAPI document, generated from the route schemas, and its reference page. Register it before the routes. */
export const openapi = fastifyPlugin(
  async (app: FastifyInstance) => {
    await app.register(swagger, {
      openapi: {
        openapi: '3.1.0',
        info: {
          title: manifest.name,
          version: manifest.version,
          description: manifest.description,
          license: { name: 'MIT', identifier: 'MIT' },
        },
        servers: [{ url: '/' }],
        tags: TAGS,
        components: {
          securitySchemes: {
            bearer: {
              type: 'http',
              scheme: 'bearer',
              bearerFormat: 'JWT',
              description: 'The `accessToken` from a login',
            },
            apiKey: {
              type: 'http',
              scheme: 'bearer',
              bearerFormat: `${API_KEY_PREFIX}…`,
              description:
                'An API key from `POST /api/keys`. Routes that accept keys name the scope that the key needs; all others respond with `SESSION_REQUIRED`.',
            },
            refreshCookie: { type: 'apiKey', in: 'cookie', name: 'refreshToken' },
          },
        },
      },
      transform: toDocumentedRoute,
      transformObject: finishDocument,
      refResolver: {
        buildLocalReference: (schema, _base, _fragment, index) =>
          typeof schema['$id'] === 'string' ? schema['$id'] : `schema-${index}`,
      },
    })
    await app.register(swaggerUi, {
      routePrefix: '/docs',
      theme: { title: 'postonce API' },
      uiConfig: { docExpansion: 'list', persistAuthorization: false, url: '/api/openapi.json' },
      staticCSP: true,
      // A reference page served over plain HTTP must not upgrade its own requests to HTTPS.
      transformStaticCSP: (policy) => policy.replace(/upgrade-insecure-requests;?/, ''),
    })
    app.get('/api/openapi.json', { schema: { hide: true } }, async () => app.swagger())
  },
  { name: 'openapi', fastify: '5.x' },
)

const TAGS = [
  { name: 'auth', description: 'Accounts, logins and sessions' },
  { name: 'keys', description: 'API keys for programs that act for the signed-in user' },
  { name: 'posts', description: 'Writing, scheduling and following posts' },
  { name: 'imports', description: 'Importing many posts at a time, and exporting posts' },
  { name: 'events', description: 'Every change of the account, as pages and as a stream' },
  { name: 'analytics', description: 'Engagement, followers and the best times to publish' },
  { name: 'platforms', description: 'Connected platform accounts' },
  { name: 'groups', description: 'Groups of accounts, such as the brands of an agency, as targets of posts' },
  { name: 'slots', description: 'Weekly times of accounts and groups, which posts take in turn' },
  { name: 'notifications', description: 'The notification center and real-time notifications' },
  { name: 'webhooks', description: 'Signed events for servers of the signed-in user' },
  { name: 'profile', description: 'Account and data of the signed-in user' },
  { name: 'captions', description: 'Generated captions for posts' },
  { name: 'payments', description: 'The Pro subscription' },
  { name: 'admin', description: 'User management, audit log and dead letters, for admins only' },
  { name: 'status', description: 'Service levels, for admins only' },
  { name: 'health', description: 'Probes for load balancers and monitoring' },
]
