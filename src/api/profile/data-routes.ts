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
import { operation } from '../openapi/operation.ts'
import { createConcurrencyLimit } from '../plugins/concurrency-limit.ts'
import { Instant, nullable } from '../shared/schemas/common.ts'
import { Acknowledged, acknowledged, errorResponses, ok, success } from '../shared/schemas/envelope.ts'
import { exportData } from './export-data.ts'

/** There may be years of posts, and their reader slow. */
const EXPORT_DEADLINE_MS = 2 * MINUTE

const records = (description: string) => Type.Array(Type.Object({}, { additionalProperties: true }), { description })

const Export = Type.Object({
  exportedAt: Instant,
  user: UserRecord,
  platforms: Type.Object({}, { additionalProperties: true, description: 'As GET /api/platform/find' }),
  posts: records('As GET /api/posts'),
  notifications: records('As GET /api/notifications'),
  media: records('The files in storage: storageKey, storageUrl, storedAt'),
  sessions: records('As GET /api/auth/devices'),
  devices: records('What gets push messages: platform, createdAt, lastSeen'),
  mails: records('Mails of the last days: kind, state, createdAt'),
  payments: records('What the payment processor told of the subscription in the last 90 days'),
  changesByAdmins: records('What admins changed of the account'),
})

const EraseBody = nullable(
  Type.Object({
    password: Type.Optional(
      Type.String({ minLength: 1, maxLength: MAX_PASSWORD_LENGTH, description: 'Needed by accounts that have one' }),
    ),
  }),
)

/** Exports that one process writes at a time. */
const MAX_CONCURRENT_EXPORTS = 4

/** What the user's data come to: taken along, or gone. */
export const dataRoutes: FastifyPluginAsyncTypebox<{ context: Context }> = async (app, { context }) => {
  const refreshCookie = createRefreshCookie(context.config)
  const exports = createConcurrencyLimit({
    perProcess: MAX_CONCURRENT_EXPORTS,
    busyMessage: 'A download of your data is still running. Wait until it is finished, then try again.',
  })

  app.get(
    '/export',
    {
      config: { deadlineMs: EXPORT_DEADLINE_MS },
      onRequest: async (request, reply) => exports.enter(reply, request.user.userId),
      schema: {
        ...operation('profile', 'exportData', 'Download all own data as JSON', {
          responseHeaders: { 200: ['Content-Disposition'] },
        }),
        response: { 200: success(Export), ...errorResponses },
      },
    },
    async (request, reply) => {
      const user = await context.users.findById(request.user.userId)
      if (!user) throw new ServiceError('UNAUTHORIZED', 'Unauthorized')
      const document = ok('Your data', await exportData(context, user, request.user.sessionId))
      const stream = await createJsonStream(document, request.deadline)
      const day = document.data.exportedAt.slice(0, 10)
      reply
        .type('application/json; charset=utf-8')
        .header('content-disposition', `attachment; filename="postonce-${day}.json"`)
      // The stream is the answer as it stands: no schema is applied to it.
      return stream as never
    },
  )

  app.delete(
    '',
    {
      schema: {
        ...operation('profile', 'eraseAccount', 'Erase the account with everything that belongs to it', {
          description:
            'Shut at once, removed in the background. Accounts without a password need a login of the last ten minutes.',
          errors: ['INCORRECT_PASSWORD', 'FRESH_LOGIN_REQUIRED'],
          responseHeaders: { 202: ['Set-Cookie'] },
        }),
        body: EraseBody,
        response: { 202: Acknowledged, ...errorResponses },
      },
    },
    async (request, reply) => {
      const { userId, sessionId } = request.user
      await eraseAccount(context, {
        userId,
        sessionId,
        ipAddress: getClientAddress(request),
        password: request.body?.password,
      })
      refreshCookie.clear(reply)
      reply.code(202)
      return acknowledged('Your account is being erased')
    },
  )
}
