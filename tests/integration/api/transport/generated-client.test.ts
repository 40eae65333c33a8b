import { afterAll, beforeAll, expect, it } from 'vitest'
import { MINUTE } from '../../../../src/domain/shared/times.ts'
import { apiWorld, signIn, type ApiWorld } from '../../../support/api.ts'
import { compileWithGeneratedTypes } from '../../../support/generated-client.ts'

/** Code that a frontend would write with the generated types, without the optional parameters. */
const PROGRAM = `
import createClient from 'openapi-fetch'
import type { components, paths } from './schema.ts'

export async function drive(baseUrl: string, token: string) {
  const client = createClient<paths>({ baseUrl, headers: { authorization: \`Bearer \${token}\` } })

  const created = await client.POST('/api/posts', {
    body: { content: { text: 'Good morning' }, selectedPlatforms: ['bluesky'], scheduledAt: '2090-05-01T09:30:00Z' },
  })
  if (!created.data) throw new Error(created.error.message)
  const params = { path: { postId: created.data.data.postId } }

  const listed = await client.GET('/api/posts')
  const posts: components['schemas']['Post'][] = listed.data?.data.posts ?? []
  const read = await client.GET('/api/posts/{postId}', { params })
  const unread: number | undefined = (await client.GET('/api/notifications')).data?.data.unread
  const overview = await client.GET('/api/analytics/overview')
  const cancelled = await client.POST('/api/posts/{postId}/cancel', { params })
  const status: components['schemas']['PostStatus'] | undefined = cancelled.data?.data.status

  const refused = await client.POST('/api/posts/{postId}/retry', { params })
  const code: components['schemas']['ErrorCode'] | undefined = refused.error?.code

  return { listed: posts.map((post) => post._id), read: read.data?.data.post, unread, overview: overview.response.status, status, code }
}
`

interface Program {
  drive(
    baseUrl: string,
    token: string,
  ): Promise<{ listed: string[]; read: object; unread: number; overview: number; status: string; code: string }>
}

/** The compiler shares the machine with other tests. */
const COMPILE_TIMEOUT_MS = 3 * MINUTE

let world: ApiWorld
beforeAll(async () => {
  world = await apiWorld()
})
afterAll(() => world.close())

it(
  'a client generated from the OpenAPI document compiles strictly and creates, lists, reads and cancels a post',
  async () => {
    const { drive } = await compileWithGeneratedTypes<Program>(PROGRAM)
    const baseUrl = await world.app.listen({ port: 0, host: '127.0.0.1' })
    const { accessToken } = await signIn(world.context)
    const driven = await drive(baseUrl, accessToken)
    expect(driven.listed).toHaveLength(1)
    expect(driven).toMatchObject({
      read: { _id: driven.listed[0], status: 'SCHEDULED', timezone: 'UTC' },
      overview: 200,
      status: 'CANCELLED',
      code: 'NO_FAILED_PLATFORMS',
    })
  },
  COMPILE_TIMEOUT_MS,
)
