import { expect, it } from 'vitest'
import { POSTING_RULES } from '../../../../src/domain/posts/posting-rules.ts'
import { PLATFORMS } from '../../../../src/domain/shared/platforms.ts'
import { createTestKey } from '../../../support/api-keys.ts'
import { signIn } from '../../../support/api.ts'
import { deliver, postBody, withCallers, type Caller, type PostsWorld } from '../../../support/posts-api.ts'
import { shared } from '../../../support/shared-worlds.ts'

let world: PostsWorld
shared.beforeAll(async ({ api }) => {
  world = withCallers(api)
})

async function createPost(who: Pick<Caller, 'call'>, platform = 'tumblr'): Promise<string> {
  const { postId } = (await who.call('POST', '/', postBody({ selectedPlatforms: [platform] }))).body.data
  await deliver(world.context, postId, { [platform]: 'accepted' })
  return postId
}
const edit = (who: Caller, postId: string, body: object) => who.call('PATCH', `/${postId}/published`, body)

it('an edit is made in the background, and its owner can follow it', async () => {
  const ann = await world.caller()
  const postId = await createPost(ann)
  const { status, body } = await edit(ann, postId, { content: { text: 'Edited' } })
  const revision = {
    ...{ text: 'Edited', status: 'pending', requestedAt: expect.any(String), requestedBy: ann.userId },
    ...{ completedAt: null, error: null, errorCode: null },
  }
  expect([status, body.data.status, body.data.platformStatuses[0].revisions]).toEqual([202, 'COMPLETED', [revision]])
  const again = await edit(ann, postId, { content: { text: 'Edited' } })
  expect([again.status, again.body.data.platformStatuses]).toEqual([202, body.data.platformStatuses])
  const { data } = (await world.app.inject({ url: '/api/profile/export', headers: ann.headers })).json()
  expect(data.posts[0].platformStatuses[0].revisions).toEqual([revision])
  // The post itself stays as it was published, and the other PATCH keeps refusing it.
  expect((await ann.call('PATCH', `/${postId}`, { content: { text: 'Edited' } })).body.code).toBe('POST_NOT_EDITABLE')
})

it.each([
  [{ content: { text: 'x', mediaItems: [] } }, 'content.mediaItems'],
  [{ content: { text: 'x' }, scheduledAt: null }, 'scheduledAt'],
  [{ content: { text: '' } }, 'content.text'],
  [{ content: { text: '  ' } }, 'content.text'],
  [{ content: { text: 'x' }, accounts: [] }, 'accounts'],
  [{ content: {} }, 'content.text'],
])('the API refuses %j, because nothing but a text can be edited', async (body, path) => {
  const ann = await world.caller()
  const answer = await edit(ann, await createPost(ann), body)
  expect([answer.status, answer.body.code, answer.body.errors[0].path]).toEqual([400, 'VALIDATION_FAILED', path])
})

it('the API returns 409 with the reason of each account that cannot be edited', async () => {
  const ann = await world.caller()
  const { status, body } = await edit(ann, await createPost(ann, 'bluesky'), { content: { text: 'Edited' } })
  expect([status, body.code]).toEqual([409, 'POST_NOT_EDITABLE'])
  expect(body.errors).toMatchObject([{ path: 'accounts', platform: 'bluesky', code: 'PLATFORM_NOT_SUPPORTED' }])
  expect(body.errors[0].message).toContain('Take it back and publish it again.')
})

it('the posts of others are not found, and a key needs the scope to publish', async () => {
  const [ann, bob] = [await world.caller(), await world.caller()]
  const postId = await createPost(ann)
  expect((await edit(bob, postId, { content: { text: 'Edited' } })).status).toBe(404)
  const owner = await signIn(world.context)
  const call = async (scope: 'posts:draft' | 'posts:publish', own: string) => {
    const { apiKey, headers } = await createTestKey(world.context, owner, { scopes: [scope] })
    const payload = { content: { text: 'Edited' } }
    const answer = await world.app.inject({ method: 'PATCH', url: `/api/posts/${own}/published`, headers, payload })
    return { apiKey, answer }
  }
  const created = await world.app.inject({
    ...{ method: 'POST', url: '/api/posts', headers: owner.headers },
    payload: postBody({ selectedPlatforms: ['tumblr'] }),
  })
  const own = created.json().data.postId
  await deliver(world.context, own, { tumblr: 'accepted' })
  expect((await call('posts:draft', own)).answer.statusCode).toBe(403)
  const { apiKey, answer } = await call('posts:publish', own)
  expect(answer.json().data.platformStatuses[0].revisions[0].requestedBy).toBe(`key:${apiKey._id}`)
})

it('the limits say where a published post can be edited', async () => {
  const ann = await world.caller()
  const { data } = (await world.app.inject({ url: '/api/platform/limits', headers: ann.headers })).json()
  for (const platform of PLATFORMS) {
    const { editable, notEditableWith } = POSTING_RULES[platform]
    expect([data[platform].editable, data[platform].notEditableWith]).toEqual([editable, notEditableWith])
  }
})
