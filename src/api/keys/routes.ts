import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from '@sinclair/typebox'
import { createApiKey } from '../../commands/users/create-api-key.ts'
import { deleteApiKey } from '../../commands/users/delete-api-key.ts'
import type { Context } from '../../context.ts'
import { API_KEY_SCOPES, listEffectiveScopes } from '../../domain/users/api-keys.ts'
import { operation } from '../openapi/operation.ts'
import { getSessionId } from '../shared/identity.ts'
import { IdParam } from '../shared/schemas/common.ts'
import { Acknowledged, acknowledged, errorResponses, ok, success } from '../shared/schemas/envelope.ts'
import { presentApiKey } from './present.ts'
import { ApiKeySchema, CreateApiKeyBody, CreatedApiKey, CurrentApiKey } from './schema.ts'
import { presentAll } from '../shared/odd-records.ts'

/** The API keys of the signed-in user. A key cannot create, list or delete keys; it can read its own scopes. */
export const keyRoutes: FastifyPluginAsyncTypebox<{ context: Context }> = async (app, { context }) => {
  app.post(
    '/',
    {
      schema: {
        ...operation('keys', 'createApiKey', 'Create an API key', {
          description:
            'The response is the only one that contains the key. A user can have 20 keys. Without `expiresAt` the key does not expire.',
          keyScope: 'refused',
          errors: ['API_KEY_LIMIT_REACHED'],
        }),
        body: CreateApiKeyBody,
        response: { 201: success(CreatedApiKey), ...errorResponses },
      },
    },
    async (request, reply) => {
      const { name, scopes, expiresAt = null } = request.body
      const { apiKey, secret } = await createApiKey(context, {
        userId: request.user.userId,
        sessionId: getSessionId(request.user),
        name,
        scopes,
        expiresAt: expiresAt === null ? null : new Date(expiresAt),
      })
      request.log.info({ keyId: apiKey.keyId, scopes: apiKey.scopes }, 'API key created')
      return reply.code(201).send(ok('API key created', { ...presentApiKey(apiKey), key: secret }))
    },
  )

  app.get(
    '/',
    {
      schema: {
        ...operation('keys', 'listApiKeys', 'List the API keys, newest first', { keyScope: 'refused' }),
        response: { 200: success(Type.Array(ApiKeySchema)), ...errorResponses },
      },
    },
    async ({ user, log }) =>
      ok('API keys found', presentAll(await context.apiKeys.listOf(user.userId), presentApiKey, log)),
  )

  app.get(
    '/current',
    {
      schema: {
        ...operation('keys', 'getCurrentApiKey', 'Get the scopes of the API key that authenticates the request', {
          keyScope: 'any',
        }),
        response: { 200: success(CurrentApiKey), ...errorResponses },
      },
    },
    async ({ user: { apiKey } }) =>
      ok('Scopes found', {
        id: apiKey?.keyId ?? null,
        scopes: apiKey ? listEffectiveScopes(apiKey.scopes) : [...API_KEY_SCOPES],
      }),
  )

  app.delete(
    '/:keyId',
    {
      schema: {
        ...operation('keys', 'deleteApiKey', 'Delete an API key; requests with it fail immediately', {
          keyScope: 'refused',
        }),
        params: IdParam('keyId'),
        response: { 200: Acknowledged, ...errorResponses },
      },
    },
    async ({ user, params: { keyId }, log }) => {
      await deleteApiKey(context, user.userId, keyId)
      log.info({ keyId }, 'API key deleted')
      return acknowledged('API key deleted')
    },
  )
}
