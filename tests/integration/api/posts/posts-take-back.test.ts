import { expect, it } from 'vitest'
import { accept } from '../../../../src/domain/posts/delivery-moves.ts'
import { createTestKey } from '../../../support/api-keys.ts'
import { signIn } from '../../../support/api.ts'
import { deliver, inAnHour, postBody, withCallers, type Caller, type PostsWorld } from '../../../support/posts-api.ts'
import { shared } from '../../../support/shared-worlds.ts'

let world: PostsWorld
shared.beforeAll(async ({ api }) => {
  world = withCallers(api)
})

type Outcomes = Parameters<typeof deliver>[2]

async function createPost(who: Caller, outcomes: Outcomes, more: object = {}): Promise<string> {
  const body = postBody({ selectedPlatforms: Object.keys(outcomes), ...more })
  const { postId } = (await who.call('POST', '/', body)).body.data
  await deliver(world.context, postId, outcomes)
  return postId
}
const takeBack = (who: Caller, postId: string, query = '') => who.call('DELETE', `/${postId}/published${query}`)

it('a published post is taken back in the background, and its owner can follow that', async () => {
  const ann = await world.caller()
  const postId = await createPost(ann, { bluesky: 'accepted' })
  const { status, body } = await takeBack(ann, postId)
  const removal = {
    ...{ status: 'pending', requestedAt: expect.any(String), requestedBy: ann.userId },
    ...{ completedAt: null, error: null, errorCode: null },
  }
  expect([status, body.data.status, body.data.platformStatuses[0].removal]).toEqual([202, 'COMPLETED', removal])
  const again = await takeBack(ann, postId)
  expect([again.status, again.body.data.platformStatuses]).toEqual([202, body.data.platformStatuses])
  for (const path of ['', '/status']) {
    const { data } = (await ann.call('GET', `/${postId}${path}`)).body
    expect((data.post ?? data).platformStatuses[0].removal).toEqual(removal)
  }
  const { data } = (await world.app.inject({ url: '/api/profile/export', headers: ann.headers })).json()
  expect(data.posts[0].platformStatuses[0].removal).toEqual(removal)
})

it('a platform that lets no program delete posts says what to do, and warns once per request', async () => {
  const ann = await world.caller()
  const mediaItems = [{ storageKey: `posts/${ann.userId}/a.png`, mimeType: 'image/png' }]
  const later = { content: { text: 'Picture', mediaItems }, selectedPlatforms: ['instagram'], scheduledAt: inAnHour() }
  const { postId } = (await ann.call('POST', '/', later)).body.data
  const published = { platformPostId: postId, platformPostUrl: 'https://instagram.com/p/1' }
  await world.context.posts.transition({ _id: postId, userId: ann.userId }, accept('instagram', published))
  const { status, body } = await takeBack(ann, postId)
  expect([status, body.data.platformStatuses[0]]).toMatchObject([
    202,
    { status: 'completed', removal: { status: 'failed', errorCode: 'PLATFORM_NOT_SUPPORTED' } },
  ])
  const { notifications } = (await world.app.inject({ url: '/api/notifications', headers: ann.headers })).json().data
  const warnings = notifications.filter(({ type }: { type: string }) => type === 'warning')
  expect(warnings).toMatchObject([{ message: expect.stringContaining('Delete it in the Instagram app.') }])
})

it('a post that no platform has published cannot be taken back', async () => {
  const ann = await world.caller()
  const refused = await createPost(ann, { bluesky: 'refused' })
  const { postId: scheduled } = (await ann.call('POST', '/', postBody({ scheduledAt: inAnHour() }))).body.data
  const published = await createPost(ann, { bluesky: 'accepted' })
  for (const [postId, query] of [
    [refused, ''],
    [scheduled, ''],
    [published, '?accounts=other'],
  ] as const) {
    const { status, body } = await takeBack(ann, postId, query)
    expect([status, body.code]).toEqual([409, 'NOTHING_PUBLISHED'])
  }
})

it('a post cannot be taken back while it is sent', async () => {
  const ann = await world.caller()
  const sending = await createPost(ann, { bluesky: 'claimed' })
  const { status, body } = await takeBack(ann, sending)
  expect([status, body.code]).toEqual([409, 'POST_IN_PROGRESS'])
})

it('the posts of others are not found', async () => {
  const [ann, bob] = [await world.caller(), await world.caller()]
  const postId = await createPost(ann, { bluesky: 'accepted' })
  expect((await takeBack(bob, postId)).status).toBe(404)
  expect((await takeBack(ann, '0'.repeat(24))).status).toBe(404)
  expect((await ann.call('GET', `/${postId}`)).body.data.post.platformStatuses[0]).not.toHaveProperty('removal')
})

it('a removal names the API key that requested it', async () => {
  const owner = await signIn(world.context)
  const { apiKey, headers } = await createTestKey(world.context, owner, { scopes: ['posts:publish'] })
  const call = (method: 'POST' | 'DELETE', url: string, payload?: object) =>
    world.app.inject({ method, url: `/api/posts${url}`, headers, ...(payload && { payload }) })
  const { postId } = (await call('POST', '/', postBody())).json().data
  await deliver(world.context, postId, { bluesky: 'accepted' })
  const response = await call('DELETE', `/${postId}/published`)
  expect(response.json().data.platformStatuses[0].removal.requestedBy).toBe(`key:${apiKey._id}`)
  const draftKey = await createTestKey(world.context, owner, { scopes: ['posts:draft'] })
  const url = `/api/posts/${postId}/published`
  expect((await world.app.inject({ method: 'DELETE', url, headers: draftKey.headers })).statusCode).toBe(403)
})
