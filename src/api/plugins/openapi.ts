import swagger from '@fastify/swagger'
import swaggerUi from '@fastify/swagger-ui'
import type { FastifyInstance } from 'fastify'
import fastifyPlugin from 'fastify-plugin'
import manifest from '../../../package.json' with { type: 'json' }
import { finishDocument, toDocumentedRoute } from '../openapi/document.ts'

/** The OpenAPI document, made from the schemas of the routes, and the reference page that shows it. Comes before the routes. */
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
            bearer: { type: 'http', scheme: 'bearer', bearerFormat: 'JWT', description: 'The accessToken of a login' },
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
      // A reference page on plain http must not send its own requests to https.
      transformStaticCSP: (policy) => policy.replace(/upgrade-insecure-requests;?/, ''),
    })
    app.get('/api/openapi.json', { schema: { hide: true } }, async () => app.swagger())
  },
  { name: 'openapi', fastify: '5.x' },
)

const TAGS = [
  { name: 'auth', description: 'Sessions' },
  { name: 'posts', description: 'Writing, scheduling and following posts' },
  { name: 'analytics', description: 'Engagement, followers and the best times to publish' },
  { name: 'platforms', description: 'Connected platform accounts' },
  { name: 'notifications', description: 'The notification center, and how to hear of what is new at once' },
  { name: 'profile', description: 'The account and the data of the signed-in user' },
  { name: 'captions', description: 'Ideas for what to write' },
  { name: 'payments', description: 'The Pro subscription' },
  { name: 'admin', description: 'For admins alone' },
  { name: 'status', description: 'Service levels, for admins' },
  { name: 'health', description: 'For load balancers and monitoring' },
]
