import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from '@sinclair/typebox'
import { changeGroup } from '../../commands/accounts/change-group.ts'
import { createGroup } from '../../commands/accounts/create-group.ts'
import { removeGroup } from '../../commands/accounts/remove-group.ts'
import type { Context } from '../../context.ts'
import { DEFAULT_GROUP_COLOR, groupNotFound } from '../../domain/accounts/groups.ts'
import { operation } from '../openapi/operation.ts'
import { parseIfMatch, toETag } from '../shared/etags.ts'
import { presentAll } from '../shared/odd-records.ts'
import { IdParam } from '../shared/schemas/common.ts'
import { Acknowledged, acknowledged, errorResponses, ok, success } from '../shared/schemas/envelope.ts'
import { presentGroup } from './present.ts'
import { CreateGroupBody, GroupSchema, UpdateGroupBody, UpdateGroupHeaders } from './schema.ts'

/** The groups of accounts of the signed-in user. */
export const groupRoutes: FastifyPluginAsyncTypebox<{ context: Context }> = async (app, { context }) => {
  const { groups } = context
  const params = IdParam('id')

  app.post(
    '/',
    {
      schema: {
        ...operation('groups', 'createGroup', 'Create a group of accounts', {
          description: 'A user can have 100 groups.',
          keyScope: 'accounts:write',
          errors: ['GROUP_NAME_TAKEN', 'GROUP_LIMIT_REACHED'],
        }),
        body: CreateGroupBody,
        response: { 201: success(GroupSchema), ...errorResponses },
      },
    },
    async ({ user, body: { name, color = DEFAULT_GROUP_COLOR, accountIds = [] } }, reply) => {
      const group = await createGroup(context, user.userId, { name, color, accountIds })
      return reply.code(201).send(ok('Group created', presentGroup(group)))
    },
  )

  app.get(
    '/',
    {
      schema: {
        ...operation('groups', 'listGroups', 'List the groups by name', { keyScope: 'accounts:read' }),
        response: { 200: success(Type.Array(GroupSchema)), ...errorResponses },
      },
    },
    async ({ user, log }) => ok('Groups found', presentAll(await groups.listOf(user.userId), presentGroup, log)),
  )

  app.get(
    '/:id',
    {
      schema: {
        ...operation('groups', 'getGroup', 'Read a group', {
          keyScope: 'accounts:read',
          responseHeaders: { 200: ['ETag'] },
        }),
        params,
        response: { 200: success(GroupSchema), ...errorResponses },
      },
    },
    async ({ user, params: { id } }, reply) => {
      const group = await groups.find(user.userId, id)
      if (!group) throw groupNotFound()
      reply.header('etag', toETag(group))
      return ok('Group found', presentGroup(group))
    },
  )

  app.patch(
    '/:id',
    {
      schema: {
        ...operation('groups', 'updateGroup', 'Change a group', {
          description: 'Posts that are already stored keep their accounts.',
          keyScope: 'accounts:write',
          errors: ['GROUP_NAME_TAKEN', 'PRECONDITION_FAILED'],
          responseHeaders: { 200: ['ETag'] },
        }),
        params,
        headers: UpdateGroupHeaders,
        body: UpdateGroupBody,
        response: { 200: success(GroupSchema), ...errorResponses },
      },
    },
    async ({ user, params: { id }, headers, body: change }, reply) => {
      const revisions = parseIfMatch(headers['if-match'])
      const group = await changeGroup(context, { userId: user.userId, groupId: id, change, revisions })
      reply.header('etag', toETag(group))
      return ok('Group changed', presentGroup(group))
    },
  )

  app.delete(
    '/:id',
    {
      schema: {
        ...operation('groups', 'deleteGroup', 'Delete a group', {
          description: 'Its accounts stay connected, and posts that are already stored keep their accounts.',
          keyScope: 'accounts:write',
        }),
        params,
        response: { 200: Acknowledged, ...errorResponses },
      },
    },
    async ({ user, params: { id } }) => {
      await removeGroup(context, user.userId, id)
      return acknowledged('Group deleted')
    },
  )
}
