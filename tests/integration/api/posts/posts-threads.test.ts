import { describe, expect, it } from 'vitest'
import { accept, refuse } from '../../../../src/domain/posts/delivery-moves.ts'
import { failure } from '../../../../src/domain/posts/failure.ts'
import { POSTING_RULES } from '../../../../src/domain/posts/posting-rules.ts'
import type { Move } from '../../../../src/domain/posts/post.ts'
import { PLATFORMS } from '../../../../src/domain/shared/platforms.ts'
import { newId } from '../../../../src/store/shared/schema.ts'
import { inAnHour, postBody, withCallers, type Caller, type PostsWorld } from '../../../support/posts-api.ts'
import { shared } from '../../../support/shared-worlds.ts'
import { unique } from '../../../support/servers.ts'

let world: PostsWorld
shared.beforeAll(async ({ api }) => {
  world = withCallers(api)
})

const THREAD = {
  text: 'One',
  segments: [{ text: 'Two' }, { text: 'Three' }],
  firstComment: 'Sources',
  onUnsupported: 'join',
}
const threadBody = (content: object = {}, more: object = {}) =>
  postBody({ content: { ...THREAD, ...content }, scheduledAt: inAnHour(), ...more })

async function create(who: Caller, body: object): Promise<{ postId: string; warnings: { code: string }[] }> {
  const { status, body: answer } = await who.call('POST', '/', body)
  expect([status, answer.errors]).toEqual([201, undefined])
  return answer.data
}
const read = async (who: Caller, postId: string) => (await who.call('GET', `/${postId}`)).body.data.post
const brief = (problems: { path: string; code: string }[]) =>
  problems.filter(({ code }) => code !== 'PLATFORM_NOT_CONNECTED').map(({ path, code }) => [path, code])

describe('a thread with a first comment', () => {
  it('is stored and read back with its parts, which a client can send back', async () => {
    const ann = await world.caller()
    const { postId } = await create(ann, threadBody({}, { platformSpecificContent: { bluesky: { firstComment: '' } } }))
    const post = await read(ann, postId)
    expect(post.content).toEqual({
      text: 'One',
      mediaItems: [],
      segments: [
        { text: 'Two', mediaItems: [] },
        { text: 'Three', mediaItems: [] },
      ],
      firstComment: 'Sources',
      onUnsupported: 'join',
    })
    expect(post.platformSpecificContent).toEqual({ bluesky: { firstComment: '' } })
    const part = {
      ...{ kind: 'post', status: 'pending', platformPostId: null, platformPostUrl: null },
      ...{ error: null, errorCode: null, completedAt: null },
    }
    expect(post.platformStatuses[0].parts).toEqual([part, part, part])
    const strict = { prefer: 'handling=strict' }
    const saved = await ann.call('PUT', `/${postId}`, post, strict)
    expect([saved.status, saved.body.errors]).toEqual([200, undefined])
    expect((await read(ann, postId)).content).toEqual(post.content)
  })

  it('a patch changes the given parts, and empty ones remove them', async () => {
    const ann = await world.caller()
    const { postId } = await create(ann, threadBody())
    const patch = async (content: object) => {
      expect((await ann.call('PATCH', `/${postId}`, { content })).status).toBe(200)
      return (await read(ann, postId)).content
    }
    const { segments, ...others } = await patch({ text: 'Changed' })
    expect(segments).toHaveLength(2)
    expect(others).toMatchObject({ text: 'Changed', firstComment: 'Sources', onUnsupported: 'join' })
    expect(await patch({ segments: [{ text: 'Only' }] })).toMatchObject({ segments: [{ text: 'Only' }] })
    expect(await patch({ segments: [] })).toEqual({
      ...{ text: 'Changed', mediaItems: [], firstComment: 'Sources', onUnsupported: 'join' },
    })
    expect(await patch({ firstComment: '' })).toEqual({ text: 'Changed', mediaItems: [], onUnsupported: 'join' })
    expect((await read(ann, postId)).platformStatuses[0]).not.toHaveProperty('parts')
  })

  it('is in the export of all data', async () => {
    const ann = await world.caller()
    const { postId } = await create(ann, threadBody())
    const exported = (await world.app.inject({ url: '/api/profile/export', headers: ann.headers })).json()
    expect(exported.data.posts).toMatchObject([{ _id: postId, content: THREAD }])
  })

  it('a draft and a duplicate keep the parts', async () => {
    const ann = await world.caller()
    const { postId } = await create(ann, threadBody({}, { status: 'DRAFT' }))
    const { body } = await ann.call('POST', `/${postId}/duplicate`)
    expect((await read(ann, body.data.postId)).content).toEqual((await read(ann, postId)).content)
  })

  it('a validation reports every part, and problems with their places', async () => {
    const ann = await world.caller()
    const long = { segments: [{ text: 'x'.repeat(301) }] }
    const { data } = (await ann.call('POST', '/validate', threadBody(long))).body
    expect(data.valid).toBe(false)
    expect(brief(data.errors)).toEqual([['content.segments.0.text', 'TEXT_TOO_LONG']])
    expect(data.platforms.bluesky).toEqual({
      ...{ length: 3, limit: 300, media: 0 },
      parts: [
        { length: 301, limit: 300, media: 0 },
        { length: 7, limit: 300, media: 0 },
      ],
    })
  })

  it.each([
    ['content.onUnsupported', { onUnsupported: 'skip' }],
    ['content.segments', { segments: Array.from({ length: 26 }, () => ({ text: 'x' })) }],
    ['content.segments.0.text', { segments: [{ text: 1 }] }],
    ['content.firstComment', { firstComment: 'x'.repeat(100_001) }],
    [
      'content.segments.0.mediaItems.0',
      { segments: [{ mediaItems: [{ storageKey: 'posts/other/a.png', mimeType: 'image/png' }] }] },
    ],
  ])('%s with a value that is not allowed is 400', async (path, content) => {
    const ann = await world.caller()
    const { status, body } = await ann.call('POST', '/', threadBody(content))
    expect([status, body.errors.map((error: { path: string }) => error.path)]).toEqual([
      400,
      [expect.stringContaining(path)],
    ])
  })

  it('an unknown field of a segment is a warning', async () => {
    const ann = await world.caller()
    const { warnings } = await create(ann, threadBody({ segments: [{ text: 'Two', texts: [] }] }))
    expect(brief(warnings as never)).toEqual([['content.segments.0.texts', 'UNKNOWN_FIELD']])
  })

  it('a search finds the words of its further posts', async () => {
    const ann = await world.caller()
    const [word, own] = [unique('further'), unique('own')]
    const { postId } = await create(
      ann,
      threadBody(
        { segments: [{ text: 'Two' }, { text: `with ${word}` }] },
        { platformSpecificContent: { bluesky: { segments: [{ text: own }] } } },
      ),
    )
    for (const q of [word, own]) {
      const { posts } = (await ann.call('GET', `/?q=${q}`)).body.data
      expect(posts.map(({ _id }: { _id: string }) => _id)).toEqual([postId])
    }
  })

  it('a post that is shortened in a list has neither its thread nor parts that could be wrong', async () => {
    const ann = await world.caller()
    const altText = 'x'.repeat(2_000)
    const storageKey = `posts/${ann.userId}/a.png`
    const mediaItems = Array.from({ length: 4 }, () => ({ storageKey, mimeType: 'image/png', altText }))
    const segments = Array.from({ length: 3 }, () => ({ text: 'Further', mediaItems }))
    const { postId } = await create(ann, threadBody({ segments }, { status: 'DRAFT' }))
    const [post] = (await ann.call('GET', '/?limit=200')).body.data.posts
    expect(post).toMatchObject({ _id: postId, isShortened: true, content: { text: 'One' } })
    expect(post.content).not.toHaveProperty('segments')
    expect(post.platformStatuses[0]).not.toHaveProperty('parts')
    expect((await ann.call('GET', '/?limit=1')).body.data.posts[0].platformStatuses[0].parts).toHaveLength(5)
  })
})

describe('platforms that cannot publish a thread', () => {
  const on = (...selectedPlatforms: string[]) => ({ selectedPlatforms })

  it('are refused unless the author decides otherwise, which validation reports as well', async () => {
    const ann = await world.caller()
    const body = threadBody({ onUnsupported: undefined }, on('bluesky', 'facebook'))
    const problem = [['content.segments', 'NOT_SUPPORTED']]
    const refused = await ann.call('POST', '/', body)
    expect([refused.status, brief(refused.body.errors)]).toEqual([400, problem])
    expect(brief((await ann.call('POST', '/validate', body)).body.data.errors)).toEqual(problem)
  })

  it('get one joined post', async () => {
    const ann = await world.caller()
    const { postId, warnings } = await create(ann, threadBody({}, on('facebook')))
    expect(brief(warnings as never)).toEqual([['content.segments', 'JOINED']])
    const { platformStatuses } = await read(ann, postId)
    expect(platformStatuses[0].parts.map(({ kind }: { kind: string }) => kind)).toEqual(['post', 'comment'])
  })

  it('are left out with a warning, also by an edit of the content alone', async () => {
    const ann = await world.caller()
    const skip = { onUnsupported: 'skipPlatform' }
    const both = on('bluesky', 'facebook')
    const leftOut = [['content.segments', 'LEFT_OUT']]
    const created = await create(ann, threadBody(skip, both))
    expect(brief(created.warnings as never)).toEqual(leftOut)
    expect((await read(ann, created.postId)).selectedPlatforms).toEqual(['bluesky'])

    const { postId } = await create(ann, postBody({ scheduledAt: inAnHour(), ...both }))
    const { body } = await ann.call('PATCH', `/${postId}`, { content: { segments: THREAD.segments, ...skip } })
    expect(brief(body.data.warnings)).toEqual(leftOut)
    expect((await read(ann, postId)).selectedPlatforms).toEqual(['bluesky'])
  })

  it('cannot all be left out, in no request', async () => {
    const ann = await world.caller()
    const body = threadBody({ onUnsupported: 'skipPlatform' }, on('facebook'))
    const problem = [['content.onUnsupported', 'LEFT_OUT']]
    const refused = await ann.call('POST', '/', body)
    expect([refused.status, brief(refused.body.errors)]).toEqual([400, problem])
    const { data } = (await ann.call('POST', '/validate', body)).body
    expect([data.valid, brief(data.errors)]).toEqual([false, problem])
    const { postId } = await create(ann, threadBody({ segments: [] }, on('facebook')))
    const edited = await ann.call('PATCH', `/${postId}`, { content: body.content })
    expect([edited.status, brief(edited.body.errors)]).toEqual([400, problem])
  })
})

describe('the delivery of a thread', () => {
  const published = (): { platformPostId: string; platformPostUrl: string } => ({
    platformPostId: `at://${newId()}`,
    platformPostUrl: 'https://bsky.app/profile/ann/post/1',
  })

  /** Applies moves to a due post, and returns its entry, and the timeline of the entry. */
  async function deliver(who: Caller, ...moves: Move[]) {
    const { postId } = await create(who, threadBody({}, { scheduledAt: undefined }))
    for (const move of moves) await world.context.posts.transition({ _id: postId, userId: who.userId }, move)
    const { events } = (await who.call('GET', `/${postId}/timeline`)).body.data
    const outcomes = (events as { type: string }[]).filter(({ type }) => type === 'outcome')
    return { postId, outcomes, post: await read(who, postId) }
  }

  /** The events of a change are stored with it, and its notifications soon after. */
  const newestNotification = async ({ userId }: Caller) => (await world.context.notifications.listOf(userId, 1))[0]

  it('a thread that fails shows what is published and which part has failed', async () => {
    const ann = await world.caller()
    const reason = failure('validation', 'The platform refused it')
    const { post, outcomes } = await deliver(
      ann,
      accept('bluesky', published(), 0),
      refuse('bluesky', reason, { round: 0, attempt: 0, part: 1 }),
    )
    expect(post).toMatchObject({ status: 'FAILED', platformStatuses: [{ status: 'failed', errorCode: 'validation' }] })
    expect(post.platformStatuses[0].parts).toMatchObject([
      { status: 'completed', platformPostUrl: 'https://bsky.app/profile/ann/post/1', errorCode: null },
      { status: 'failed', platformPostUrl: null, errorCode: 'validation' },
      { status: 'pending', errorCode: null },
      { kind: 'comment', status: 'pending' },
    ])
    expect(outcomes).toMatchObject([
      { result: 'accepted', part: 1 },
      { result: 'refused', part: 2, errorCode: 'validation' },
    ])
    await expect
      .poll(() => newestNotification(ann))
      .toMatchObject({
        message: expect.stringContaining('failed at post 2 of the thread: The platform refused it. 1 of 3 posts'),
      })
  })

  it('a post whose comment failed is completed, and can be retried for the comment', async () => {
    const ann = await world.caller()
    const reason = failure('permission', 'The login lacks a permission')
    const { postId, post } = await deliver(
      ann,
      ...[0, 1, 2].map((part) => accept('bluesky', published(), part)),
      refuse('bluesky', reason, { round: 0, attempt: 0, part: 3 }),
    )
    expect(post).toMatchObject({ status: 'COMPLETED', platformStatuses: [{ status: 'completed', errorCode: null }] })
    expect(post.platformStatuses[0].parts[3]).toMatchObject({
      kind: 'comment',
      status: 'failed',
      errorCode: 'permission',
    })
    await expect
      .poll(() => newestNotification(ann))
      .toMatchObject({ type: 'warning', message: expect.stringContaining('its first comment failed') })
    expect(await ann.call('POST', `/${postId}/retry`)).toMatchObject({
      status: 200,
      body: { data: { retryingPlatforms: ['bluesky'] } },
    })
    expect((await read(ann, postId)).platformStatuses[0].parts[3]).toMatchObject({ status: 'pending', errorCode: null })
  })
})

it('the limits say how each platform publishes threads and first comments', async () => {
  const { headers } = await world.caller()
  const { data } = (await world.app.inject({ url: '/api/platform/limits', headers })).json()
  for (const platform of PLATFORMS) expect(data[platform].thread).toEqual(POSTING_RULES[platform].thread)
})
