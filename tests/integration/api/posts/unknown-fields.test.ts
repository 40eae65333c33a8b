import { describe, expect, it } from 'vitest'
import { signIn } from '../../../support/api.ts'
import { createTestKey } from '../../../support/api-keys.ts'
import { inAnHour, postBody, withCallers, type PostsWorld } from '../../../support/posts-api.ts'
import { shared } from '../../../support/shared-worlds.ts'

let world: PostsWorld
shared.beforeAll(async ({ api }) => {
  world = withCallers(api)
})

const STRICT = { prefer: 'respond-async, handling=strict' }
const pathsOf = (problems: { code: string; path: string }[]) =>
  problems.filter(({ code }) => code === 'UNKNOWN_FIELD').map(({ path }) => path)

/** Bodies with one unknown field, by its path. */
const UNKNOWN: Record<string, Record<string, unknown>> = {
  scheduleAt: { scheduleAt: inAnHour() },
  visibility: { visibility: 'private' },
  'content.texts': { content: { text: 'Hello', texts: ['Hello'] } },
  'platformSpecificContent.bluesky.visibility': { platformSpecificContent: { bluesky: { visibility: 'private' } } },
  [`accountSpecificContent.${'a'.repeat(24)}.txt`]: { accountSpecificContent: { ['a'.repeat(24)]: { txt: 'Hello' } } },
}

describe('fields of a post that the API does not know', () => {
  it.each(Object.entries(UNKNOWN))('%s is a warning of create, validate and both updates', async (path, change) => {
    const ann = await world.caller()
    const body = { scheduledAt: inAnHour(), ...postBody(change) }
    const created = await ann.call('POST', '/', body)
    expect([created.status, pathsOf(created.body.data.warnings)]).toEqual([201, [path]])
    const { postId } = created.body.data
    for (const [method, url] of [
      ['POST', '/validate'],
      ['PUT', `/${postId}`],
      ['PATCH', `/${postId}`],
    ] as const) {
      const { status, body: answer } = await ann.call(method, url, body)
      expect([method, status, pathsOf(answer.data.warnings)]).toEqual([method, 200, [path]])
    }
  })

  it.each(Object.entries(UNKNOWN))('%s is an error for strict clients, and nothing changes', async (path, change) => {
    const ann = await world.caller()
    const stored = (await ann.call('POST', '/', postBody({ scheduledAt: inAnHour() }))).body.data
    const body = postBody(change)
    for (const [method, url] of [
      ['POST', '/'],
      ['PUT', `/${stored.postId}`],
      ['PATCH', `/${stored.postId}`],
    ] as const) {
      const { status, body: answer } = await ann.call(method, url, body, STRICT)
      expect([method, status, pathsOf(answer.errors)]).toEqual([method, 400, [path]])
    }
    const validated = (await ann.call('POST', '/validate', body, STRICT)).body.data
    expect([validated.valid, pathsOf(validated.errors), pathsOf(validated.warnings)]).toEqual([false, [path], []])
    const { posts } = (await ann.call('GET', '/')).body.data
    expect(posts.map(({ _id, status }: { _id: string; status: string }) => [_id, status])).toEqual([
      [stored.postId, 'SCHEDULED'],
    ])
  })

  it('an API key is a strict client', async () => {
    const owner = await signIn(world.context)
    const { headers } = await createTestKey(world.context, owner)
    const response = await world.app.inject({
      method: 'POST',
      url: '/api/posts',
      headers,
      payload: postBody({ scheduleAt: inAnHour() }),
    })
    expect([response.statusCode, pathsOf(response.json().errors)]).toEqual([400, ['scheduleAt']])
    expect(response.json().message).toContain('Did you mean scheduledAt?')
  })

  it('what was read of a post can be saved, by a strict client as well', async () => {
    const ann = await world.caller()
    const { postId } = (await ann.call('POST', '/', postBody({ scheduledAt: inAnHour() }))).body.data
    const { post } = (await ann.call('GET', `/${postId}`)).body.data
    const [listed] = (await ann.call('GET', '/?include=metrics')).body.data.posts
    for (const read of [post, listed]) {
      for (const method of ['PUT', 'PATCH'] as const) {
        const { status, body } = await ann.call(method, `/${postId}`, read, STRICT)
        expect([method, status, pathsOf(body.data?.warnings)]).toEqual([method, 200, []])
      }
    }
    const { _id, correlationId: _key, ...again } = post
    expect((await ann.call('POST', '/', { ...again, _id }, STRICT)).status).toBe(201)
  })

  it('a body of unknown fields only costs a bounded answer', async () => {
    const ann = await world.caller()
    const many = Object.fromEntries(Array.from({ length: 5_000 }, (_, index) => [`field${index}`, index]))
    const { status, body } = await ann.call('POST', '/validate', postBody(many))
    expect([status, pathsOf(body.data.warnings).length]).toEqual([200, 20])
  })

  it('a text for a platform or an account that is not selected is a warning', async () => {
    const ann = await world.caller()
    const account = 'b'.repeat(24)
    const unused = {
      platformSpecificContent: { mastodon: { text: 'Hello' } },
      accountSpecificContent: { [account]: { text: 'Hello' } },
    }
    const { warnings } = (await ann.call('POST', '/', postBody({ scheduledAt: inAnHour(), ...unused }))).body.data
    expect(warnings.filter(({ code }: { code: string }) => code === 'NOT_SELECTED')).toMatchObject([
      { path: 'platformSpecificContent.mastodon' },
      { path: `accountSpecificContent.${account}` },
    ])
  })
})
