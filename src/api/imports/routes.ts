import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from '@sinclair/typebox'
import { changeImport, deleteImport, importNotFound } from '../../commands/imports/change-import.ts'
import type { Context } from '../../context.ts'
import { operation } from '../openapi/operation.ts'
import { assertScope, type RequestUser } from '../shared/identity.ts'
import { IdParam } from '../shared/schemas/common.ts'
import { Acknowledged, acknowledged, errorResponses, ok, success } from '../shared/schemas/envelope.ts'
import { planRoute } from './plan-route.ts'
import { presentImport, presentImportRow } from './present.ts'
import { ApplyBody, ImportSchema, RowPage, RowsQuery } from './schema.ts'
import { presentAll } from '../shared/odd-records.ts'

const ImportId = IdParam('importId')

/** Imports of posts by the signed-in user. */
export const importRoutes: FastifyPluginAsyncTypebox<{ context: Context }> = async (app, { context }) => {
  await app.register(planRoute, { context })

  app.get(
    '/',
    {
      schema: {
        ...operation('imports', 'listImports', 'List imports, newest first', { keyScope: 'posts:read' }),
        response: { 200: success(Type.Array(ImportSchema)), ...errorResponses },
      },
    },
    async ({ user, log }) =>
      ok('Imports found', presentAll(await context.imports.listOf(user.userId), presentImport, log)),
  )

  app.get(
    '/:importId',
    {
      schema: {
        ...operation('imports', 'getImport', 'Get the state and progress of an import', { keyScope: 'posts:read' }),
        params: ImportId,
        response: { 200: success(ImportSchema), ...errorResponses },
      },
    },
    async ({ user, params }) => ok('Import found', presentImport(await findOwned(user, params.importId))),
  )

  app.get(
    '/:importId/rows',
    {
      schema: {
        ...operation('imports', 'listImportRows', 'List the rows of an import', {
          keyScope: 'posts:read',
          description: '`status` accepts several values, repeated or separated by commas.',
        }),
        params: ImportId,
        querystring: RowsQuery,
        response: { 200: success(RowPage), ...errorResponses },
      },
    },
    async ({ user, params: { importId }, query: { status, cursor = '0', limit }, log }) => {
      await findOwned(user, importId)
      const found = await context.imports.listRows(user.userId, importId, {
        after: Number(cursor),
        limit: limit + 1,
        ...(status && { statuses: status }),
      })
      const page = found.slice(0, limit)
      const nextCursor = found.length > limit ? String(page.at(-1)!.row) : null
      return ok('Rows found', { rows: presentAll(page, presentImportRow, log), nextCursor })
    },
  )

  app.delete(
    '/:importId',
    {
      schema: {
        ...operation('imports', 'deleteImport', 'Delete an import; its posts stay, and no more are created', {
          keyScope: 'posts:draft',
        }),
        params: ImportId,
        response: { 200: Acknowledged, ...errorResponses },
      },
    },
    async ({ user, params }) => {
      await deleteImport(context, user.userId, params.importId)
      return acknowledged('Import deleted')
    },
  )

  app.post(
    '/:importId/apply',
    {
      schema: {
        ...operation('imports', 'applyImport', 'Create the posts of an import', {
          keyScope: 'posts:draft',
          description:
            'Creates the posts in the background; `GET /api/imports/{importId}` shows the progress. A repeated request changes nothing. ' +
            "An API key needs `posts:publish` unless every post is a draft. When the plan's allowance is used up, the import is paused.",
          errors: ['IMPORT_STATE', 'IMPORT_HAS_ERRORS'],
        }),
        params: ImportId,
        body: ApplyBody,
        response: { 202: success(ImportSchema), ...errorResponses },
      },
    },
    async ({ user, params: { importId }, body }, reply) => {
      const options = { skipErrors: body?.skipErrors ?? false, skipConflicts: body?.skipConflicts ?? false }
      const changed = await change(user, { importId, move: 'apply', options })
      return reply.code(202).send(ok('The posts are being created', presentImport(changed)))
    },
  )

  for (const { move, summary, message } of MOVES) {
    app.post(
      `/:importId/${move}`,
      {
        schema: {
          ...operation('imports', `${move}Import`, summary, { keyScope: 'posts:draft', errors: ['IMPORT_STATE'] }),
          params: ImportId,
          response: { 200: success(ImportSchema), ...errorResponses },
        },
      },
      async ({ user, params: { importId } }) => ok(message, presentImport(await change(user, { importId, move }))),
    )
  }

  const change = (
    user: RequestUser,
    request: Pick<Parameters<typeof changeImport>[1], 'importId' | 'move' | 'options'>,
  ) =>
    changeImport(context, {
      ...request,
      userId: user.userId,
      assertMayPublish: () => assertScope(user, 'posts:publish'),
    })

  /** @throws ServiceError NOT_FOUND */
  async function findOwned({ userId }: RequestUser, importId: string) {
    const found = await context.imports.findOwned(userId, importId)
    if (!found) throw importNotFound()
    return found
  }
}

const MOVES = [
  { move: 'pause', summary: 'Pause an import after its current batch of 25 rows', message: 'Import paused' },
  { move: 'resume', summary: 'Continue a paused import', message: 'Import resumed' },
  { move: 'cancel', summary: 'End an import; the posts that it created stay', message: 'Import cancelled' },
] as const
