import { Type } from '@sinclair/typebox'
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { eraseAccount } from '../../commands/users/erase-account.ts'
import type { Context } from '../../context.ts'
import { MAX_PASSWORD_LENGTH } from '../../domain/users/passwords.ts'
import { ServiceError } from '../../domain/shared/service-error.ts'
import { MINUTE } from '../../domain/shared/times.ts'
import { createRefreshCookie } from '../auth/refresh-cookie.ts'
import { UserRecord } from '../auth/schema.ts'
import { getClientAddress } from '../shared/client-address.ts'
import { createJsonStream } from '../shared/json-stream.ts'
import { getSessionId } from '../shared/identity.ts'
import { operation } from '../openapi/operation.ts'
import { createConcurrencyLimit } from '../plugins/concurrency-limit.ts'
import { Instant, nullable } from '../shared/schemas/common.ts'
import { Acknowledged, acknowledged, errorResponses, ok, success } from '../shared/schemas/envelope.ts'
import { exportData } from './export-data.ts'

/** An export can hold years of posts, and its client can be slow. */
const EXPORT_DEADLINE_MS = 2 * MINUTE

const records = (description: string) => Type.Array(Type.Object({}, { additionalProperties: true }), { description })

const Export = Type.Object({
  exportedAt: Instant,
  user: UserRecord,
  platforms: Type.Object({}, { additionalProperties: true, description: 'Same format as GET /api/platform/find' }),
  accounts: records('Same format as GET /api/platform/accounts'),
  groups: records('Same format as GET /api/groups'),
  posts: records('Same format as GET /api/posts'),
  imports: records('Same format as GET /api/imports'),
  importRows: records('Same format as GET /api/imports/{importId}/rows, with the id of the import'),
  notifications: records('Same format as GET /api/notifications'),
  notificationPreferences: Type.Object(
    {},
    { additionalProperties: true, description: 'Same format as in GET /api/notifications/preferences' },
  ),
  events: records('Same format as GET /api/events'),
  media: records('The files in storage: storageKey, storageUrl, storedAt'),
  sessions: records('Same format as GET /api/auth/devices'),
  apiKeys: records('Same format as GET /api/keys'),
  webhooks: records('Same format as GET /api/webhooks'),
  webhookDeliveries: records('Same format as GET /api/webhooks/{id}/deliveries'),
  devices: records('Devices registered for push messages: platform, createdAt, lastSeen'),
  mails: records('Emails of the last days: kind, state, createdAt'),
  payments: records('Subscription events of the payment processor in the last 90 days'),
  changesByAdmins: records('Changes to the account by admins'),
})

const EraseBody = nullable(
  Type.Object({
    password: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: MAX_PASSWORD_LENGTH,
        description: 'Required for accounts with a password',
      }),
    ),
  }),
)

/** Per process. */
const MAX_CONCURRENT_EXPORTS = 4

/** Routes that export and erase the user's data. */
export const dataRoutes: FastifyPluginAsyncTypebox<{ context: Context }> = async (app, { context }) => {
  const refreshCookie = createRefreshCookie(context.config)
  const exports = createConcurrencyLimit({
    perProcess: MAX_CONCURRENT_EXPORTS,
    busyMessage: 'A download of your data is still running. Wait until it finishes, then try again.',
  })

  app.get(
    '/export',
    {
      config: { deadlineMs: EXPORT_DEADLINE_MS },
      onRequest: async (request, reply) => exports.enter(reply, request.user.userId),
      schema: {
        ...operation('profile', 'exportData', 'Download all of your data as JSON', {
          keyScope: 'refused',
          responseHeaders: { 200: ['Content-Disposition'] },
        }),
        response: { 200: success(Export), ...errorResponses },
      },
    },
    async (request, reply) => {
      const user = await context.users.findById(request.user.userId)
      if (!user) throw new ServiceError('UNAUTHORIZED', 'Unauthorized')
      const document = ok(
        'Your data',
        await exportData(context, user, { sessionId: getSessionId(request.user), log: request.log }),
      )
      const stream = await createJsonStream(document, request.deadline)
      const day = document.data.exportedAt.slice(0, 10)
      reply
        .type('application/json; charset=utf-8')
        .header('content-disposition', `attachment; filename="postonce-${day}.json"`)
      // Fastify sends the stream as it is; no schema serializes it.
      return stream as never
    },
  )

  app.delete(
    '',
    {
      schema: {
        ...operation('profile', 'eraseAccount', 'Erase the account and all of its data', {
          keyScope: 'refused',
          description:
            'Blocks the account immediately and removes its data in the background. Accounts without a password need a login within the last ten minutes.',
          errors: ['INCORRECT_PASSWORD', 'FRESH_LOGIN_REQUIRED'],
          responseHeaders: { 202: ['Set-Cookie'] },
        }),
        body: EraseBody,
        response: { 202: Acknowledged, ...errorResponses },
      },
    },
    async (request, reply) => {
      await eraseAccount(context, {
        userId: request.user.userId,
        sessionId: getSessionId(request.user),
        ipAddress: getClientAddress(request),
        password: request.body?.password,
      })
      refreshCookie.clear(reply)
      reply.code(202)
      return acknowledged('Your account is being erased')
    },
  )
}
