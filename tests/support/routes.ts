import { randomUUID } from 'node:crypto'
import type { FastifyInstance, InjectOptions } from 'fastify'
import type { Context } from '../../src/context.ts'
import { PLATFORMS } from '../../src/domain/shared/platforms.ts'
import { toMediaKey } from '../../src/domain/media/storage-keys.ts'
import type { RouteScope } from '../../src/domain/users/api-keys.ts'
import type { Role } from '../../src/domain/users/user.ts'
import { createAccount, type SignedIn } from './api.ts'
import { createTestKey } from './api-keys.ts'
import { storeNotifications } from './notifications.ts'
import { planTestImport } from './imports.ts'
import { connectAccounts } from './published.ts'
import { storeWebhook } from './webhook-records.ts'
import { createGroup } from '../../src/commands/accounts/create-group.ts'
import { saveOffer } from '../../src/commands/accounts/offers.ts'
import { createPost } from '../../src/commands/posts/create-post.ts'
import { registerPushDevice } from '../../src/commands/notifications/push-devices.ts'
import { newId } from '../../src/store/shared/schema.ts'
import { unique } from './servers.ts'
import { createAccessTokens, openTestSession } from './sessions.ts'

/** The facts about a route that the tests of all routes need. */
export interface RouteCase {
  access: 'public' | 'user' | 'admin'
  /** A valid body. */
  body?: object
  /** The size limit of the body, where neither 64 KiB for anonymous clients nor 1 MiB for users applies. */
  maxBodyMiB?: number
  /** A query that the route requires. */
  query?: string
  /** Creates the record that the path names and returns the path parameters. In admin routes it belongs to another user. */
  record?: (context: Context, owner: SignedIn) => Promise<Record<string, string>>
  /** Reads the stored record, to check that requests of other users have not changed it. */
  fingerprint?: (context: Context, params: Record<string, string>) => Promise<unknown>
  /** The status that the owner of the record gets, or any user where the path names no record. */
  status: number
}

const publicRoute = (status: number, body?: object): RouteCase => ({
  access: 'public',
  status,
  ...(body === undefined ? {} : { body }),
})
const adminRoute = (status: number): RouteCase => ({ ...publicRoute(status), access: 'admin' })
const userRoute = (status: number, body?: object): RouteCase => ({ ...publicRoute(status, body), access: 'user' })

const postBody = {
  content: { text: 'Good morning', mediaItems: [] },
  selectedPlatforms: ['bluesky' as const],
  platformSpecificContent: { bluesky: { text: 'Good morning, Bluesky' } },
  scheduledAt: '2090-05-01T09:30:00Z',
  timezone: 'Europe/Berlin',
  status: 'SCHEDULED' as const,
}

const postRoute = (status: number, body?: object): RouteCase => ({
  ...userRoute(status, body),
  record: async (context, owner) => ({ postId: await storePost(context, owner.user._id) }),
  fingerprint: (context, { postId }) => context.posts.find(postId!),
})

async function storePost(context: Context, userId: string): Promise<string> {
  const { data } = await createPost(context, {
    userId,
    input: postBody,
    metadata: { source: 'api', client: 'api' },
    idempotency: null,
  })
  // The start of its workflow changes the record once more.
  await context.startQueue.idle()
  return data.postId
}

/** An admin route whose path names a post of another user. */
const postAdminRoute: RouteCase = {
  ...adminRoute(200),
  record: async (context) => ({ id: await storePost(context, (await createAccount(context))._id) }),
  fingerprint: (context, { id }) => context.posts.find(id!),
}

const notificationRoute = (status: number): RouteCase => ({
  ...userRoute(status),
  async record(context, { user }) {
    const [notification] = await storeNotifications(context, user._id, 1)
    return { id: notification!._id }
  },
  fingerprint: (context, { id }) =>
    context.database.connection.collection<{ _id: string }>('notifications').findOne({ _id: id! }),
})

/** An admin route whose path names another user. */
const userAdminRoute = (changes: Pick<RouteCase, 'body' | 'query'>): RouteCase => ({
  ...adminRoute(200),
  ...changes,
  record: async (context) => ({ id: (await createAccount(context))._id }),
  fingerprint: (context, { id }) => context.users.findById(id!),
})
const deviceRoute: RouteCase = {
  ...userRoute(200),
  async record(context, { user }) {
    const token = unique('device-token')
    await registerPushDevice(context, { userId: user._id, token, platform: 'ios' })
    return { token }
  },
  fingerprint: (context) => context.database.connection.collection('pushDevices').find().toArray(),
}

/** The account is on a platform that is not set up in tests. */
const accountRoute = (status: number, body?: object): RouteCase => ({
  ...userRoute(status, body),
  async record(context, { user }) {
    await connectAccounts(context, user._id, ['threads'])
    return { accountId: (await context.accounts.findDefault(user._id, 'threads'))!._id }
  },
  fingerprint: (context, { accountId }) =>
    context.database.connection.collection<{ _id: string }>('accounts').findOne({ _id: accountId! }),
})

/** The platform of the offer is not set up in tests. */
const offerRoute = (status: number, body?: object): RouteCase => ({
  ...userRoute(status, body),
  async record(context, { user }) {
    const attempt = {
      ...{ _id: newId(), userId: user._id, platform: 'facebook' as const, sessionId: newId() },
      ...{ secrets: null, bindingHash: null, expiresAt: context.clock.now(), consumedAt: context.clock.now() },
    }
    await context.connectAttempts.insert(attempt)
    const profile = { displayName: 'Page', handle: 'page', avatar: null }
    const offered = ['1', '2'].map((accountId) => ({ accountId, profile, problem: null, secrets: {} }))
    return { offerId: (await saveOffer(context, attempt, offered))! }
  },
  fingerprint: (context, { offerId }) =>
    context.database.connection.collection<{ _id: string }>('connectAttempts').findOne({ _id: offerId! }),
})

const mediaRoute: RouteCase = {
  ...userRoute(200),
  async record(context, { user }) {
    const mediaId = `${randomUUID()}.png`
    const upload = { _id: toMediaKey(user._id, mediaId), userId: user._id, bytes: 1, maxBytes: 1, isSized: true }
    await context.uploads.insert(upload)
    await context.storage.put({ key: upload._id, body: Buffer.from('x'), contentType: 'image/png' })
    return { mediaId }
  },
  fingerprint: (context, { mediaId }) =>
    context.database.connection.collection('uploads').findOne({ _id: { $regex: mediaId! } as never }),
}

const importRoute = (status: number): RouteCase => ({
  ...userRoute(status),
  async record(context, { user }) {
    // Some tests need more records than a user can have.
    await context.imports.removeAllOf(user._id)
    const { _id } = await planTestImport(context, user._id, [postBody])
    return { importId: _id }
  },
  fingerprint: (context, { importId }) =>
    context.database.connection.collection<{ _id: string }>('imports').findOne({ _id: importId! }),
})

const groupRoute = (status: number, body?: object): RouteCase => ({
  ...userRoute(status, body),
  async record(context, { user }) {
    const fields = { name: unique('group'), color: '#112233', accountIds: [] }
    return { id: (await createGroup(context, user._id, fields))._id }
  },
  fingerprint: (context, { id }) =>
    context.database.connection.collection<{ _id: string }>('accountGroups').findOne({ _id: id! }),
})

const webhookRoute = (status: number, body?: object): RouteCase => ({
  ...userRoute(status, body),
  record: async (context, { user }) => ({ id: (await storeWebhook(context, user._id)).webhookId }),
  fingerprint: async ({ database: { connection } }, { id }) => [
    await connection.collection<{ _id: string }>('webhooks').findOne({ _id: id! }),
    await connection.collection('webhookDeliveries').find({ webhookId: id! }).toArray(),
  ],
})

const logIn = { email: 'nobody@example.test', password: 'wrong password' }

/** Every route of the API. The suite fails for a new route that is missing here. */
export const ROUTES: Record<string, RouteCase> = {
  'GET /health/live': publicRoute(200),
  'GET /health/ready': publicRoute(200),
  'GET /health/delivery': publicRoute(503),
  'GET /api/openapi.json': publicRoute(200),
  'POST /api/auth/login': publicRoute(401, logIn),
  'POST /api/auth/admin-login': publicRoute(401, logIn),
  'POST /api/auth/refresh': publicRoute(401),
  'DELETE /api/auth/logout': publicRoute(200),
  'DELETE /api/auth/logout/all': userRoute(200),
  'GET /api/auth/google': publicRoute(302),
  'GET /api/auth/google/callback': publicRoute(302),
  'GET /api/auth/me': userRoute(200),
  'POST /api/auth/request-otp': publicRoute(201, { email: 'newcomer@example.test' }),
  'POST /api/auth/verify-otp': publicRoute(400, { email: 'nobody@example.test', otp: '000000' }),
  'POST /api/auth/signup': publicRoute(400, {
    email: 'nobody@example.test',
    name: 'Nobody',
    password: 'not a good one',
  }),
  'POST /api/auth/send-reset-email': publicRoute(200, { email: 'nobody@example.test' }),
  'POST /api/auth/reset-password': publicRoute(400, {
    token: 'none',
    email: 'nobody@example.test',
    password: 'not a good one',
  }),
  'GET /api/auth/devices': userRoute(200),
  'DELETE /api/auth/devices/:tokenId': {
    ...userRoute(200),
    async record(context, owner) {
      const { accessToken } = await openTestSession(context, owner.user, { ipAddress: '127.0.0.1', userAgent: 'other' })
      return { tokenId: (await createAccessTokens(context.config)).verify(accessToken)!.sessionId }
    },
    fingerprint: (context, { tokenId }) => context.sessions.find(tokenId!),
  },

  'POST /api/webhooks': userRoute(201, { url: 'https://hooks.example.com/postonce' }),
  'GET /api/webhooks': userRoute(200),
  'GET /api/webhooks/:id': webhookRoute(200),
  'PATCH /api/webhooks/:id': webhookRoute(200, { description: 'Changed', enabled: false }),
  'DELETE /api/webhooks/:id': webhookRoute(200),
  'POST /api/webhooks/:id/rotate-secret': webhookRoute(200),
  'GET /api/webhooks/:id/deliveries': webhookRoute(200),
  'POST /api/webhooks/:id/redeliver': webhookRoute(202, { since: '2026-01-01T00:00:00Z' }),
  'POST /api/webhooks/:id/test': webhookRoute(202),
  'POST /api/webhooks/:id/deliveries/:deliveryId/redeliver': {
    ...webhookRoute(202),
    async record(context, { user }) {
      const { webhookId, deliveryId } = await storeWebhook(context, user._id)
      return { id: webhookId, deliveryId }
    },
  },
  'POST /api/groups': userRoute(201, { name: 'Northern brand', color: '#112233', accountIds: [] }),
  'GET /api/groups': userRoute(200),
  'GET /api/groups/:id': groupRoute(200),
  'PATCH /api/groups/:id': groupRoute(200, { name: 'Southern brand', color: '#332211', accountIds: [] }),
  'DELETE /api/groups/:id': groupRoute(200),
  'GET /api/slots': userRoute(200),
  'PUT /api/slots': userRoute(200, { slots: [] }),
  'GET /api/slots/upcoming': { ...userRoute(200), query: 'from=2090-05-01&to=2090-05-31' },
  'POST /api/keys': userRoute(201, { name: 'Import', scopes: ['posts:read'] }),
  'GET /api/keys': userRoute(200),
  'GET /api/keys/current': userRoute(200),
  'DELETE /api/keys/:keyId': {
    ...userRoute(200),
    record: async (context, owner) => ({ keyId: (await createTestKey(context, owner)).apiKey.keyId }),
    fingerprint: (context, { keyId }) => context.database.connection.collection('apiKeys').findOne({ keyId }),
  },

  'POST /api/posts': userRoute(201, postBody),
  'GET /api/posts': userRoute(200),
  'GET /api/posts/calendar': { ...userRoute(200), query: 'from=2026-05-01&to=2026-05-31' },
  'GET /api/posts/counts': { ...userRoute(200), query: 'from=2026-05-01&to=2026-05-31' },
  // Not a public address.
  'GET /api/posts/link-preview': { ...userRoute(422), query: 'url=https%3A%2F%2F127.0.0.1%2F' },
  'POST /api/posts/validate': userRoute(200, postBody),
  'GET /api/posts/media': userRoute(200),
  'GET /api/posts/media/:mediaId': mediaRoute,
  'DELETE /api/posts/media/:mediaId': mediaRoute,
  'POST /api/posts/media/upload': userRoute(200, { contentType: 'image/png', sizeBytes: 1_000 }),
  'GET /api/posts/:postId': postRoute(200),
  'GET /api/posts/:postId/status': postRoute(200),
  'GET /api/posts/:postId/timeline': postRoute(200),
  'PUT /api/posts/:postId': postRoute(200, postBody),
  'PATCH /api/posts/:postId': postRoute(200, { content: { text: 'Good evening' }, timezone: 'Asia/Tokyo' }),
  'DELETE /api/posts/:postId': postRoute(200),
  // Nothing of the post is published.
  'DELETE /api/posts/:postId/published': postRoute(409),
  'PATCH /api/posts/:postId/published': postRoute(409, { content: { text: 'Good evening' } }),
  'POST /api/posts/:postId/retry': postRoute(400),
  'POST /api/posts/:postId/duplicate': postRoute(201),
  'POST /api/posts/:postId/cancel': postRoute(200),

  'POST /api/imports': { ...userRoute(201, [postBody]), maxBodyMiB: 16 },
  'GET /api/imports': userRoute(200),
  'GET /api/imports/:importId': importRoute(200),
  'GET /api/imports/:importId/rows': importRoute(200),
  'DELETE /api/imports/:importId': importRoute(200),
  'POST /api/imports/:importId/apply': importRoute(202),
  // The import is not being applied.
  'POST /api/imports/:importId/pause': importRoute(409),
  'POST /api/imports/:importId/resume': importRoute(409),
  'POST /api/imports/:importId/cancel': importRoute(200),
  'GET /api/exports/posts': userRoute(200),

  'GET /api/analytics/overview': userRoute(200),
  'GET /api/analytics/timeline': userRoute(200),
  'GET /api/analytics/growth': userRoute(200),
  'GET /api/analytics/posts/top': userRoute(200),
  'GET /api/analytics/platforms': userRoute(200),
  'GET /api/analytics/heatmap': userRoute(200),
  // The post is not published yet.
  'POST /api/analytics/posts/:postId/refresh': { ...postRoute(400), query: 'platform=bluesky' },

  'GET /api/platform/find': userRoute(200),
  'GET /api/platform/limits': userRoute(200),
  'GET /api/platform/accounts': userRoute(200),
  'PATCH /api/platform/accounts/:accountId': accountRoute(200, { label: 'Brand' }),
  'POST /api/platform/accounts/:accountId/refresh': accountRoute(400),
  'DELETE /api/platform/accounts/:accountId': accountRoute(200),
  'GET /api/platform/offers/:offerId': offerRoute(200),
  'POST /api/platform/offers/:offerId': offerRoute(502, { platformIds: ['1'] }),
  'POST /api/platform/bluesky/connect': userRoute(400, {
    identifier: 'nobody.test',
    appPassword: 'aaaa-bbbb-cccc-dddd',
  }),
  'GET /api/platform/bluesky/refresh': userRoute(400),
  'DELETE /api/platform/bluesky/disconnect': userRoute(200),
  // In tests these platforms have no application credentials.
  'GET /api/platform/mastodon/connect': userRoute(400),
  'POST /api/platform/mastodon/connect': userRoute(400, { instance: 'mastodon.social' }),
  'GET /api/platform/mastodon/callback': publicRoute(302),
  'GET /api/platform/mastodon/refresh': userRoute(400),
  'DELETE /api/platform/mastodon/disconnect': userRoute(200),
  'GET /api/platform/tumblr/connect': userRoute(400),
  'GET /api/platform/tumblr/callback': publicRoute(302),
  'GET /api/platform/tumblr/refresh': userRoute(400),
  'DELETE /api/platform/tumblr/disconnect': userRoute(200),
  'GET /api/platform/threads/connect': userRoute(400),
  'GET /api/platform/threads/callback': publicRoute(302),
  'GET /api/platform/threads/refresh': userRoute(400),
  'DELETE /api/platform/threads/disconnect': userRoute(200),
  'GET /api/platform/facebook/connect': userRoute(400),
  'GET /api/platform/facebook/callback': publicRoute(302),
  'GET /api/platform/facebook/refresh': userRoute(400),
  'DELETE /api/platform/facebook/disconnect': userRoute(200),

  'GET /api/events': userRoute(200),
  // A stream that opens would not end.
  'GET /api/events/stream': { ...userRoute(400), query: 'types=none' },
  'GET /api/notifications': userRoute(200),
  'PATCH /api/notifications/:id/read': notificationRoute(200),
  'PATCH /api/notifications/read-all': userRoute(200),
  'GET /api/notifications/preferences': userRoute(200),
  'PATCH /api/notifications/preferences': userRoute(200, { postCreated: { push: false } }),
  'GET /api/profile/export': userRoute(200),
  // No user of these tests has a password.
  'DELETE /api/profile': userRoute(400, { password: 'wrong password' }),
  'POST /api/profile/upload-url': userRoute(200, { contentType: 'image/png', sizeBytes: 1_000 }),
  // Names a picture that was never uploaded.
  'PUT /api/profile/update-avatar': userRoute(400, { imageUrl: 'https://example.test/avatar.png' }),
  'DELETE /api/profile/delete-avatar': userRoute(200),
  'PUT /api/profile/change-timezone': userRoute(200, { timezone: 'Asia/Tokyo' }),
  'PUT /api/profile/change-hold': userRoute(200, { holdSeconds: 30 }),
  'PATCH /api/profile/change-name': userRoute(200, { name: 'Ann Other' }),
  // Accounts in these tests have no password.
  'PATCH /api/profile/change-password': userRoute(400, {
    currentPassword: 'correct horse',
    newPassword: 'battery staple',
  }),
  ...Object.fromEntries(
    ['', ...PLATFORMS.map((platform) => `/${platform}`)].map((path) => [
      `POST /api/generate/captions${path}`,
      {
        ...userRoute(200, { prompt: 'Our new café', text: 'We open on Monday', tone: 'friendly', media: [] }),
        maxBodyMiB: 20,
      },
    ]),
  ),
  // In tests there is no payment processor, and the user has never paid.
  'POST /api/payments/create-checkout': userRoute(503),
  'POST /api/payments/cancel': userRoute(400),
  'POST /api/payments/billing-portal': userRoute(400),
  'GET /api/payments/status': userRoute(200),
  'POST /api/payments/webhook': publicRoute(503),
  'POST /api/notifications/devices': userRoute(200, { token: 'a-device:token', platform: 'android' }),
  'POST /api/firebase/save-token': userRoute(200, { token: 'a-browser:token' }),
  'DELETE /api/notifications/devices/:token': deviceRoute,

  'GET /api/admin/get-all-users': adminRoute(200),
  'PATCH /api/admin/update-user-plan/:id': userAdminRoute({ query: 'plan=pro' }),
  'PATCH /api/admin/update-user-activity/:id': userAdminRoute({ body: { activity: false } }),
  'GET /api/admin/users/:id': userAdminRoute({}),
  'PATCH /api/admin/users/:id/limits': userAdminRoute({ body: { maxPosts: 90, maxCaptionGenerations: 9 } }),
  'GET /api/admin/users/:id/posts': userAdminRoute({}),
  'GET /api/admin/setup': adminRoute(200),
  'GET /api/admin/queues': adminRoute(200),
  'GET /api/admin/analytics': adminRoute(200),
  'GET /api/admin/audit': adminRoute(200),
  'GET /api/admin/posts/:id': postAdminRoute,
  'GET /api/admin/posts/:id/timeline': postAdminRoute,
  'GET /api/admin/dead-letters': adminRoute(200),
  'POST /api/admin/dead-letters/:id/replay': {
    ...adminRoute(202),
    async record(context) {
      const about = { type: 'account', postId: null, userId: newId(), platform: 'bluesky', accountId: null } as const
      await context.deadLetters.add([about], 'transient: It did not answer', new Date())
      const [letter] = await Array.fromAsync(context.deadLetters.allOf(about.userId))
      return { id: letter!._id }
    },
    fingerprint: (context, { id }) => context.deadLetters.find(id!),
  },
  // The stream authenticates by its first message. Socket.IO requires a transport in the query.
  'GET /api/notifications/stream': publicRoute(426),
  'GET /socket.io': publicRoute(400),
  'POST /socket.io': publicRoute(400),

  'GET /api/status/slo': adminRoute(200),
  'GET /api/status/punctuality': adminRoute(200),
}

/** Lists the routes of the application as keys of `ROUTES`, without the pages of the reference, HEAD and OPTIONS. */
export function listRoutes(app: FastifyInstance): string[] {
  return app.routeEntries
    .filter(({ method, url }) => method !== 'HEAD' && method !== 'OPTIONS' && !url.startsWith('/docs'))
    .map(({ method, url }) => `${method} ${url}`)
}

/** Returns the request for a key of `ROUTES`. */
export function buildRequest(route: string, params: Record<string, string> = {}): { method: 'GET'; url: string } {
  const [method, pattern] = route.split(' ') as [NonNullable<InjectOptions['method']>, string]
  const { query } = ROUTES[route]!
  const path = pattern.replace(/:(\w+)/g, (_, name: string) => params[name] ?? `:${name}`)
  // `inject` requires a literal type; the table has the methods that Fastify reported.
  return { method: method as 'GET', url: query === undefined ? path : `${path}?${query}` }
}

/** Returns the role that the caller of a route needs. */
export const roleFor = (route: string): Role => (ROUTES[route]!.access === 'admin' ? 'admin' : 'user')

/** The scope that an API key needs for a route. A route that is in no row refuses keys. */
const KEY_SCOPES: [RegExp, RouteScope][] = [
  [/^GET \/api\/keys\/current$/, 'any'],
  [/^GET \/api\/(posts|imports|exports)/, 'posts:read'],
  [/^(POST|DELETE) \/api\/imports/, 'posts:draft'],
  [/^POST \/api\/posts(\/validate|\/media\/upload|\/:postId\/duplicate)?$/, 'posts:draft'],
  [/^(PUT|PATCH) \/api\/posts\/:postId$/, 'posts:draft'],
  [/^POST \/api\/posts\/:postId\/(retry|cancel)$/, 'posts:publish'],
  [/^DELETE \/api\/posts\/(:postId(\/published)?|media\/:mediaId)$/, 'posts:publish'],
  [/^PATCH \/api\/posts\/:postId\/published$/, 'posts:publish'],
  [/^GET \/api\/platform\/(find|limits|accounts)$/, 'accounts:read'],
  [/ \/api\/platform\/accounts\/:accountId/, 'accounts:write'],
  [/^GET \/api\/slots/, 'posts:read'],
  [/ \/api\/slots/, 'posts:publish'],
  [/^GET \/api\/groups/, 'accounts:read'],
  [/ \/api\/groups/, 'accounts:write'],
  [/^POST \/api\/platform\/bluesky\/connect$/, 'accounts:write'],
  [/ \/api\/platform\/\w+\/(refresh|disconnect)$/, 'accounts:write'],
  [/ \/api\/analytics\//, 'analytics:read'],
  [/^POST \/api\/generate\//, 'captions:generate'],
  [/^GET \/api\/events/, 'events:read'],
  [/^GET \/api\/notifications(\/preferences)?$/, 'notifications:read'],
  [/^PATCH \/api\/notifications\//, 'notifications:write'],
  [/^GET \/api\/webhooks/, 'webhooks:read'],
  [/ \/api\/webhooks/, 'webhooks:write'],
]

export function keyScopeOf(route: string): RouteScope {
  return KEY_SCOPES.find(([pattern]) => pattern.test(route))?.[1] ?? 'refused'
}
