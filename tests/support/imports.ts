import type { FastifyInstance } from 'fastify'
import { applyRows } from '../../src/commands/imports/apply-rows.ts'
import { planImport } from '../../src/commands/imports/plan-import.ts'
import type { WholePostInput } from '../../src/commands/posts/post-input.ts'
import type { Context } from '../../src/context.ts'
import type { PostImport } from '../../src/domain/imports/imports.ts'

interface Caller {
  headers: Record<string, string>
}

/** Calls the routes of imports as a user. */
export function importClient(app: FastifyInstance, { headers }: Caller) {
  const call = async (method: 'GET' | 'POST' | 'PATCH' | 'DELETE', url: string, payload?: object) => {
    const response = await app.inject({ method, url, headers, ...(payload && { payload }) })
    return { status: response.statusCode, body: response.json() }
  }
  const send = async (payload: string | Buffer, contentType: string, query = '') => {
    const response = await app.inject({
      method: 'POST',
      url: `/api/imports${query}`,
      headers: { ...headers, 'content-type': contentType },
      payload,
    })
    return { status: response.statusCode, body: response.json() }
  }

  return {
    call,
    sendJson: (rows: unknown, query?: string) => send(JSON.stringify(rows), 'application/json', query),
    sendText: (text: string | Buffer, query?: string) => send(text, 'application/json', query),
    sendCsv: (text: string | Buffer, query?: string) => send(text, 'text/csv; charset=utf-8', query),

    /** Returns all rows of an import, page by page. */
    async rows(importId: string, query = ''): Promise<PlannedRow[]> {
      const found: PlannedRow[] = []
      for (let cursor: string | null = '0'; cursor !== null;) {
        const { body } = await call('GET', `/api/imports/${importId}/rows?limit=200&cursor=${cursor}${query}`)
        found.push(...body.data.rows)
        cursor = body.data.nextCursor
      }
      return found
    },

    async read(importId: string) {
      return (await call('GET', `/api/imports/${importId}`)).body.data
    },

    async export(query = ''): Promise<string> {
      return (await app.inject({ method: 'GET', url: `/api/exports/posts${query}`, headers })).body
    },
  }
}

interface PlannedRow {
  row: number
  status: string
  post: Record<string, unknown> | null
  postId: string | null
  errors: { path: string; code: string; message: string }[]
  warnings: { path: string; code: string; message: string }[]
  conflicts: { code: string; withRow?: number; withPostId?: string }[]
}

/** Plans an import without the API. */
export function planTestImport(context: Context, userId: string, posts: WholePostInput[]): Promise<PostImport> {
  async function* rows() {
    for (const [index, input] of posts.entries()) yield { row: index + 1, input, problems: [], warnings: [], bytes: 0 }
  }
  const options = { format: 'json', gapMinutes: 0, timezone: 'UTC', source: 'api' } as const
  return planImport(context, { userId, ...options }, rows())
}

/** Applies an import as the workflow does. */
export async function applyAll(context: Context, userId: string, importId: string): Promise<void> {
  while (await applyRows(context, userId, importId));
}
