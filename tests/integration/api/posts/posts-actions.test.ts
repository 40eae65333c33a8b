import { randomUUID } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { cancelPost } from '../../../../src/commands/posts/cancel-post.ts'
import { deletePost } from '../../../../src/commands/posts/delete-post.ts'
import type { DiscardPrepared } from '../../../../src/commands/posts/discard-prepared.ts'
import { markDeleted, saveCheckpoint } from '../../../../src/domain/posts/delivery-moves.ts'
import { createdPost } from '../../../support/created-post.ts'
import { deliver, inAnHour, postBody, withCallers, type Caller, type PostsWorld } from '../../../support/posts-api.ts'
import { addAccount, connectAccounts } from '../../../support/published.ts'
import { unique } from '../../../support/servers.ts'
import { shared } from '../../../support/shared-worlds.ts'

let world: PostsWorld
shared.beforeAll(({ api }) => void (world = withCallers(api)))

/** Reads a post whose workflow has started. */
const stored = async (postId: string) => {
  await world.context.startQueue.idle()
  return world.context.posts.find(postId)
}
const JSON_TYPE = { 'content-type': 'application/json' }

describe('cancelling a post', () => {
  it.each([
    ['pending', {}],
    ['scheduled', { scheduledAt: inAnHour() }],
  ])('cancel stops a %s post, with and without a JSON content type', async (_, change) => {
    const ann = await world.caller()
    for (const headers of [undefined, JSON_TYPE]) {
      const postId = await createdPost(ann, change)
      const { status, body } = await ann.call('POST', `/${postId}/cancel`, undefined, headers)
      expect(status).toBe(200)
      expect(body).toEqual({
        success: true,
        message: 'Post cancelled successfully',
        data: { postId, status: 'CANCELLED' },
      })
      expect(await stored(postId)).toMatchObject({ status: 'CANCELLED', platformStatuses: [{ status: 'pending' }] })
    }
  })

  it.each(['draft', 'cancelled', 'claimed', 'accepted', 'refused'] as const)(
    'cancelling a post that is %s is 404',
    async (state) => {
      const ann = await world.caller()
      const postId = await createdPost(ann, state === 'draft' ? { status: 'DRAFT' } : {})
      if (state === 'cancelled') await ann.call('POST', `/${postId}/cancel`)
      else if (state !== 'draft') await deliver(world.context, postId, { bluesky: state })
      const before = await stored(postId)
      const { status, body } = await ann.call('POST', `/${postId}/cancel`)
      expect(status).toBe(404)
      expect(body).toMatchObject({
        success: false,
        code: 'NOT_FOUND',
        message: 'Post not found, unauthorized, or not in a cancellable state',
      })
      expect(await stored(postId)).toEqual(before)
    },
  )

  it('cancelling a post that is deleted meanwhile returns the same error as for an unknown post', async () => {
    const ann = await world.caller()
    const postId = await createdPost(ann)
    const { posts, ...context } = world.context
    const deletedMeanwhile: typeof posts.findOwned = async (userId, id) => {
      const post = await posts.findOwned(userId, id)
      await posts.remove(userId, id)
      return post
    }
    await expect(
      cancelPost({ ...context, posts: { ...posts, findOwned: deletedMeanwhile } }, { userId: ann.userId, postId }),
    ).rejects.toThrow('Post not found, unauthorized, or not in a cancellable state')
  })

  it('exactly one of many concurrent cancels succeeds', async () => {
    const ann = await world.caller()
    const postId = await createdPost(ann)
    const answers = await Promise.all(Array.from({ length: 10 }, () => ann.call('POST', `/${postId}/cancel`)))
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1)
    expect(answers.filter(({ status }) => status === 404)).toHaveLength(9)
  })
})

describe('deleting a post', () => {
  it.each(['draft', 'pending', 'scheduled', 'claimed', 'accepted', 'refused', 'cancelled'] as const)(
    'delete removes a post that is %s',
    async (state) => {
      const ann = await world.caller()
      const change = { draft: { status: 'DRAFT' }, scheduled: { scheduledAt: inAnHour() } }[state as 'draft'] ?? {}
      const postId = await createdPost(ann, change)
      if (state === 'cancelled') await ann.call('POST', `/${postId}/cancel`)
      if (state === 'claimed' || state === 'accepted' || state === 'refused') {
        await deliver(world.context, postId, { bluesky: state })
      }
      const { status, body } = await ann.call('DELETE', `/${postId}`, undefined, JSON_TYPE)
      expect([status, body]).toEqual([200, { success: true, message: 'Post deleted successfully', data: { postId } }])
      expect(await stored(postId)).toBeNull()
      expect((await ann.call('DELETE', `/${postId}`)).status).toBe(404)
    },
  )

  it('delete undoes preparations until the last moment', async () => {
    const ann = await world.caller()
    const postId = await createdPost(ann)
    const { posts } = world.context
    const checkpoint = { round: 0, attempt: 0, accountId: 'a', contentVersion: 0, name: 'draft', value: '1' }
    const preparedMeanwhile: typeof posts.remove = async (...asked) => {
      await posts.transition((await posts.find(postId))!, saveCheckpoint('bluesky', checkpoint))
      return posts.remove(...asked)
    }
    const takenBack: object[] = []
    const discardPrepared: DiscardPrepared = async (_post, entries) => void takenBack.push(...entries)
    const deps = { ...world.context, posts: { ...posts, remove: preparedMeanwhile }, discardPrepared }
    await deletePost(deps, ann.userId, postId)
    expect(takenBack).toMatchObject([{ platform: 'bluesky', delivery: { handles: { draft: '1' } } }])
  })
})

describe('retrying a post', () => {
  it('retry starts another round for all failed platforms immediately, in a single write', async () => {
    const ann = await world.caller()
    const postId = await createdPost(ann, { selectedPlatforms: ['bluesky', 'threads', 'tumblr'] })
    await deliver(world.context, postId, { bluesky: 'accepted', threads: 'refused', tumblr: 'refused' })
    const { status, body } = await ann.call('POST', `/${postId}/retry`)
    expect([status, body]).toEqual([
      200,
      {
        success: true,
        message: 'Post retry started successfully',
        data: { postId, retryingPlatforms: ['threads', 'tumblr'] },
      },
    ])
    expect(await stored(postId)).toMatchObject({
      status: 'PROCESSING',
      startPending: false,
      platformStatuses: [
        { status: 'completed' },
        { status: 'pending', error: null, errorCode: null, attemptCount: 1 },
        { status: 'pending', error: null, errorCode: null, attemptCount: 1 },
      ],
    })
    await deliver(world.context, postId, { threads: 'accepted' })
    expect((await stored(postId))!.platformStatuses[1]).toMatchObject({ status: 'completed', attemptCount: 2 })
  })

  it.each(['FAILED', 'PARTIAL_SUCCESS', 'PARTIAL_SUCCESS with a deletion on the platform'])(
    'a %s post with a failed platform can be retried, on a platform and on an account that the post names',
    async (state) => {
      const ann = await world.caller()
      await connectAccounts(world.context, ann.userId, ['bluesky', 'threads'])
      const brand = await addAccount(world.context, ann.userId, { platform: 'bluesky', platformId: unique('brand') })
      const named = { selectedPlatforms: ['bluesky', 'threads'], selectedAccounts: [brand._id] }
      const postId = await createdPost(ann, named)
      const others = { bluesky: 'refused', [brand._id]: 'refused' } as const
      await deliver(world.context, postId, { threads: state === 'FAILED' ? 'refused' : 'accepted', ...others })
      if (state.includes('deletion')) {
        await world.context.posts.transition({ _id: postId, userId: ann.userId }, markDeleted('threads'))
      }
      expect((await stored(postId))!.status).toBe(state.split(' ')[0])
      const { status, body } = await ann.call('POST', `/${postId}/retry`)
      const retried = state === 'FAILED' ? ['bluesky', 'threads'] : ['bluesky']
      expect([status, body.data?.retryingPlatforms]).toEqual([200, retried])
      const { platformStatuses } = (await stored(postId))!
      expect(platformStatuses.filter((entry) => entry.status === 'pending')).toHaveLength(retried.length + 1)
    },
  )

  it.each(['draft', 'pending', 'scheduled', 'claimed', 'accepted', 'cancelled'] as const)(
    'retrying a %s post without a failed platform is 400',
    async (state) => {
      const ann = await world.caller()
      const change = { draft: { status: 'DRAFT' }, scheduled: { scheduledAt: inAnHour() } }[state as 'draft'] ?? {}
      const postId = await createdPost(ann, change)
      if (state === 'cancelled') await ann.call('POST', `/${postId}/cancel`)
      if (state === 'claimed' || state === 'accepted') await deliver(world.context, postId, { bluesky: state })
      const { status, body } = await ann.call('POST', `/${postId}/retry`)
      expect(status).toBe(400)
      expect(body).toMatchObject({
        success: false,
        code: 'NO_FAILED_PLATFORMS',
        message: 'No failed platforms to retry',
      })
    },
  )

  it('retry is 409 while other platforms of the post are still being delivered', async () => {
    const ann = await world.caller()
    const postId = await createdPost(ann, { selectedPlatforms: ['bluesky', 'threads'] })
    await deliver(world.context, postId, { bluesky: 'refused' })
    const { status, body } = await ann.call('POST', `/${postId}/retry`)
    expect([status, body.code]).toEqual([409, 'POST_IN_PROGRESS'])
  })

  it('exactly one of many concurrent retries succeeds', async () => {
    const ann = await world.caller()
    const postId = await createdPost(ann)
    await deliver(world.context, postId, { bluesky: 'refused' })
    const answers = await Promise.all(Array.from({ length: 10 }, () => ann.call('POST', `/${postId}/retry`)))
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1)
    expect((await stored(postId))!.platformStatuses[0]!.delivery.round).toBe(1)
  })
})

describe('media upload', () => {
  it.each([
    ['image/png', 'png'],
    ['image/jpeg', 'jpg'],
    ['image/jpg', 'jpg'],
    ['image/webp', 'webp'],
    ['video/mp4', 'mp4'],
    ['video/quicktime', 'mov'],
  ])('an upload URL for %s accepts the file and makes it public', async (contentType, extension) => {
    const ann = await world.caller()
    const { status, body } = await ann.call('POST', '/media/upload', { contentType })
    expect(status).toBe(200)
    const { uploadUrl, storageUrl, storageKey } = body.data
    expect(body).toEqual({
      success: true,
      message: 'Upload URL created successfully',
      data: { uploadUrl, storageUrl, storageKey, contentType },
    })
    expect(storageKey).toMatch(new RegExp(`^posts/${ann.userId}/[0-9a-f-]{36}\\.${extension}$`))
    expect(new URL(uploadUrl).searchParams.get('X-Amz-Expires')).toBe('900')

    const upload = await fetch(uploadUrl, { method: 'PUT', headers: { 'content-type': contentType }, body: 'bytes' })
    expect(upload.status).toBe(200)
    const read = await fetch(storageUrl)
    expect([read.status, await read.text()]).toEqual([200, 'bytes'])

    const post = await ann.call(
      'POST',
      '/',
      postBody({ status: 'DRAFT', content: { text: '', mediaItems: [{ storageKey, mimeType: contentType }] } }),
    )
    expect((await ann.call('GET', `/${post.body.data.postId}`)).body.data.post.content.mediaItems[0].storageUrl).toBe(
      storageUrl,
    )
  })

  it('an upload URL signs the announced size', async () => {
    const ann = await world.caller()
    const { body } = await ann.call('POST', '/media/upload', { contentType: 'image/png', sizeBytes: 5 })
    const put = (content: string) =>
      fetch(body.data.uploadUrl, { method: 'PUT', headers: { 'content-type': 'image/png' }, body: content })
    expect((await put('too long')).status).toBe(403)
    expect((await put('bytes')).status).toBe(200)
  })

  it.each(['image/gif', 'text/html', 'image/svg+xml', 'IMAGE/PNG', 'image/png; charset=x', 'constructor', ''])(
    'a media upload of type %j is refused',
    async (contentType) => {
      const ann = await world.caller()
      const { status, body } = await ann.call('POST', '/media/upload', { contentType })
      expect(status).toBe(400)
      expect(body).toMatchObject({
        success: false,
        statusCode: 400,
        code: 'INVALID_MEDIA_TYPE',
        message: 'Invalid media type',
      })
    },
  )

  it.each([
    [{ contentType: 'image/png', sizeBytes: 10_000_001 }],
    [{ contentType: 'video/mp4', sizeBytes: 512_000_001 }],
    [{ contentType: 'image/png', sizeBytes: 0 }],
    [{ contentType: 'image/png', sizeBytes: '5' }],
    [{ contentType: 5 }],
    [{}],
  ])('the media upload request %j is refused', async (request) => {
    const ann = await world.caller()
    const { status, body } = await ann.call('POST', '/media/upload', request)
    expect([status, body.code]).toEqual([400, 'VALIDATION_FAILED'])
  })
})

describe('validating a post', () => {
  it('validate reports lengths and limits of a valid post and stores nothing', async () => {
    const ann = await world.caller()
    const { status, body } = await ann.call('POST', '/validate', {
      content: { text: 'See https://example.com/a/rather/long/address 👍', mediaItems: [] },
      selectedPlatforms: ['bluesky', 'mastodon', 'threads'],
      platformSpecificContent: { threads: { text: 'hi 👍' } },
      correlationId: randomUUID(),
    })
    expect(status).toBe(200)
    expect(body).toMatchObject({ success: true, message: 'Post is valid' })
    expect(body.data).toEqual({
      valid: true,
      errors: [],
      warnings: ['bluesky', 'mastodon', 'threads'].map((platform, index) => ({
        path: `selectedPlatforms.${index}`,
        code: 'PLATFORM_NOT_CONNECTED',
        message: expect.any(String),
        platform,
      })),
      platforms: {
        bluesky: { length: 47, limit: 300, media: 0 },
        mastodon: { length: 29, limit: 500, media: 0 },
        threads: { length: 7, limit: 500, media: 0 },
      },
    })
    expect((await ann.call('GET', '/')).body.data.total).toBe(0)
    expect((await world.context.users.findById(ann.userId))!.usage.postsCreated).toBe(0)
  })

  it('validate reports every error of create with the same codes', async () => {
    const ann = await world.caller()
    const bad = {
      content: { text: 'a'.repeat(600), mediaItems: [{ storageKey: 'posts/other/a.png', mimeType: 'image/gif' }] },
      selectedPlatforms: ['bluesky', 'instagram'],
      platformSpecificContent: { instagram: { mediaItems: [] } },
      timezone: 'Nowhere',
    }
    const { status, body } = await ann.call('POST', '/validate', bad)
    expect([status, body.message, body.data.valid]).toEqual([200, 'Post is not valid', false])
    expect(
      body.data.errors.map(({ code, platform = '' }: Record<string, string>) => `${code} ${platform}`.trim()),
    ).toEqual([
      'STORAGE_KEY_INVALID',
      'TIMEZONE_UNKNOWN',
      'TEXT_TOO_LONG bluesky',
      'MEDIA_TYPE bluesky',
      'MEDIA_REQUIRED instagram',
    ])
    expect((await ann.call('POST', '/', bad)).status).toBe(400)
  })

  it('validate rejects a body of the wrong shape', async () => {
    const ann = await world.caller()
    expect((await ann.call('POST', '/validate', { content: {} })).status).toBe(400)
  })
})

describe('the OpenAPI document of the post routes', () => {
  it('every post route has a summary, a tag and error responses', async () => {
    const { paths } = (await world.app.inject('/api/openapi.json')).json()
    const routes = Object.entries(
      paths as Record<string, Record<string, { summary?: string; tags?: string[]; responses: object }>>,
    )
      .filter(([path]) => path.startsWith('/api/posts'))
      .flatMap(([path, methods]) =>
        Object.entries(methods).map(([method, operation]) => ({ path: `${method} ${path}`, operation })),
      )
    expect(routes.map(({ path }) => path).toSorted()).toEqual([
      'delete /api/posts/media/{mediaId}',
      'delete /api/posts/{postId}',
      'delete /api/posts/{postId}/published',
      'get /api/posts',
      'get /api/posts/calendar',
      'get /api/posts/counts',
      'get /api/posts/link-preview',
      'get /api/posts/media',
      'get /api/posts/media/{mediaId}',
      'get /api/posts/{postId}',
      'get /api/posts/{postId}/status',
      'get /api/posts/{postId}/timeline',
      'patch /api/posts/{postId}',
      'patch /api/posts/{postId}/published',
      'post /api/posts',
      'post /api/posts/media/upload',
      'post /api/posts/validate',
      'post /api/posts/{postId}/cancel',
      'post /api/posts/{postId}/duplicate',
      'post /api/posts/{postId}/retry',
      'put /api/posts/{postId}',
    ])
    for (const { operation } of routes) {
      expect(operation).toMatchObject({
        summary: expect.any(String),
        tags: ['posts'],
        responses: { 401: expect.anything() },
      })
    }
  })
})

describe('duplicating a post', () => {
  const usageOf = async (userId: string) => (await world.context.users.findById(userId))!.usage.postsCreated
  const duplicate = (caller: Caller, postId: string) => caller.call('POST', `/${postId}/duplicate`)

  it('a duplicate is a draft without a time, with content, platforms and timezone of the original', async () => {
    const ann = await world.caller()
    const change = { platformSpecificContent: { bluesky: { text: 'On Bluesky' } }, timezone: 'Asia/Tokyo' }
    const postId = await createdPost(ann, { ...change, scheduledAt: inAnHour(), correlationId: 'first' })
    const { status, body } = await duplicate(ann, postId)
    expect([status, body.message]).toEqual([201, 'Draft created successfully'])
    expect(body.data).toEqual({
      postId: expect.any(String),
      status: 'DRAFT',
      scheduledAt: null,
      dueAt: null,
      warnings: [],
    })
    const [original, draft] = [(await stored(postId))!, (await stored(body.data.postId))!]
    const { content, platformSpecificContent, selectedPlatforms, timezone } = original
    expect(draft).toMatchObject({ content, platformSpecificContent, selectedPlatforms, timezone })
    expect(draft).toMatchObject({ correlationId: null, status: 'DRAFT', dueAt: null, userId: ann.userId })
    expect(original.status).toBe('SCHEDULED')
    expect(await usageOf(ann.userId)).toBe(2)
  })

  it.each(['failed', 'cancelled'])('duplicating a %s post that reached no platform is free once', async (state) => {
    const ann = await world.caller({ maxPosts: 1 })
    const postId = await createdPost(ann)
    if (state === 'failed') await deliver(world.context, postId, { bluesky: 'refused' })
    else await ann.call('POST', `/${postId}/cancel`)
    const answers = await Promise.all([duplicate(ann, postId), duplicate(ann, postId), duplicate(ann, postId)])
    expect(answers.filter(({ status }) => status === 201)).toHaveLength(1)
    for (const { status, body } of answers) if (status !== 201) expect([403, 409]).toContain(body.statusCode)
    expect(await usageOf(ann.userId)).toBe(1)
    expect(await duplicate(ann, postId)).toMatchObject({ status: 403, body: { code: 'POST_LIMIT_REACHED' } })
  })

  /** Creates a post that fails, and the draft that takes over its share of the allowance. */
  async function failedWithDuplicate(ann: Caller) {
    const postId = await createdPost(ann)
    await deliver(world.context, postId, { bluesky: 'refused' })
    const draftId: string = (await duplicate(ann, postId)).body.data.postId
    return { postId, draftId }
  }

  it('a retry of a post with a free duplicate counts again, and both can be sent', async () => {
    const ann = await world.caller({ maxPosts: 2 })
    const { postId, draftId } = await failedWithDuplicate(ann)
    expect(await usageOf(ann.userId)).toBe(1)
    expect(await ann.call('POST', `/${postId}/retry`)).toMatchObject({ status: 200 })
    expect(await usageOf(ann.userId)).toBe(2)
    expect((await ann.call('PATCH', `/${draftId}`, { status: 'PENDING' })).body.data.status).toBe('PENDING')
    expect(await usageOf(ann.userId)).toBe(2)
  })

  it('at the limit, a post with a free duplicate can be retried once the draft is deleted', async () => {
    const ann = await world.caller({ maxPosts: 1 })
    const { postId, draftId } = await failedWithDuplicate(ann)
    const refused = await ann.call('POST', `/${postId}/retry`)
    expect(refused).toMatchObject({
      status: 403,
      body: {
        ...{ code: 'POST_LIMIT_REACHED', usage: 1, limit: 1, postIds: [draftId] },
        message: expect.stringMatching(/\(1\/1\)\. The draft .* has its share\. Publish or delete that draft/),
      },
    })
    expect((await stored(postId))!.status).toBe('FAILED')
    await ann.call('DELETE', `/${draftId}`)
    expect((await ann.call('POST', `/${postId}/retry`)).status).toBe(200)
    expect(await usageOf(ann.userId)).toBe(1)
  })

  it('a draft that was published returns no share when it is deleted', async () => {
    const ann = await world.caller({ maxPosts: 1 })
    const { postId, draftId } = await failedWithDuplicate(ann)
    await ann.call('PATCH', `/${draftId}`, { status: 'PENDING' })
    await deliver(world.context, draftId, { bluesky: 'accepted' })
    await ann.call('DELETE', `/${draftId}`)
    const { body } = await ann.call('POST', `/${postId}/retry`)
    expect(body).toMatchObject({ code: 'POST_LIMIT_REACHED', message: expect.stringContaining('Upgrade your plan') })
    expect(body).not.toHaveProperty('postIds')
  })

  it('duplicating a draft or a post that reached a platform counts like any draft', async () => {
    const ann = await world.caller({ maxPosts: 3 })
    const postId = await createdPost(ann, { selectedPlatforms: ['bluesky', 'mastodon'] })
    await deliver(world.context, postId, { bluesky: 'accepted', mastodon: 'refused' })
    const draftId = (await duplicate(ann, postId)).body.data.postId
    expect((await duplicate(ann, draftId)).status).toBe(201)
    expect(await usageOf(ann.userId)).toBe(3)
    expect((await duplicate(ann, draftId)).body.code).toBe('POST_LIMIT_REACHED')
    expect((await ann.call('POST', `/${postId}/retry`)).status).toBe(200)
  })
})

describe('replacing a failed delivery', () => {
  const unresolved = async (ann: Caller): Promise<string[]> => {
    const { body } = await ann.call('GET', '/?unresolved=true')
    return body.data.posts.map(({ _id }: { _id: string }) => _id)
  }

  it('a failed delivery is resolved once a duplicate for its account is submitted, until it is retried', async () => {
    const ann = await world.caller()
    await connectAccounts(world.context, ann.userId, ['bluesky', 'mastodon'])
    const postId = await createdPost(ann, { selectedPlatforms: ['bluesky', 'mastodon'] })
    await deliver(world.context, postId, { bluesky: 'refused', mastodon: 'refused' })
    const submitCopyFor = async (platform: string) => {
      const copyId: string = (await ann.call('POST', `/${postId}/duplicate`)).body.data.postId
      await ann.call('PATCH', `/${copyId}`, { selectedPlatforms: [platform] })
      expect(await unresolved(ann)).toEqual([postId])
      expect((await ann.call('PATCH', `/${copyId}`, { status: 'PENDING' })).status).toBe(200)
      return copyId
    }
    const replacements = async () => {
      const { post } = (await ann.call('GET', `/${postId}`)).body.data
      return post.platformStatuses.map(({ replacedBy }: { replacedBy?: string }) => replacedBy)
    }
    const first = await submitCopyFor('mastodon')
    expect(await replacements()).toEqual([undefined, first])
    const second = await submitCopyFor('bluesky')
    expect(await replacements()).toEqual([second, first])
    expect(await unresolved(ann)).toEqual([])

    await ann.call('POST', `/${postId}/retry`)
    expect(await replacements()).toEqual([undefined, undefined])
    await deliver(world.context, postId, { bluesky: 'accepted', mastodon: 'refused' })
    expect(await unresolved(ann)).toEqual([postId])
  })

  it('a delivery that the user stopped is resolved', async () => {
    const ann = await world.caller()
    await connectAccounts(world.context, ann.userId, ['bluesky', 'mastodon'])
    const postId = await createdPost(ann, { selectedPlatforms: ['bluesky', 'mastodon'] })
    await deliver(world.context, postId, { bluesky: 'accepted' })
    const { platformStatuses } = (await stored(postId))!
    await ann.call('POST', `/${postId}/cancel`, { accounts: [platformStatuses[1]!.accountId] })
    expect((await stored(postId))!.platformStatuses[1]).toMatchObject({ status: 'failed', errorCode: 'CANCELLED' })
    expect(await unresolved(ann)).toEqual([])
  })

  it('a copy of a deleted post is submitted', async () => {
    const ann = await world.caller()
    const postId = await createdPost(ann)
    const copyId: string = (await ann.call('POST', `/${postId}/duplicate`)).body.data.postId
    await ann.call('DELETE', `/${postId}`)
    expect((await ann.call('PATCH', `/${copyId}`, { status: 'PENDING' })).status).toBe(200)
  })
})

describe('the timeline of a post', () => {
  it('the timeline is ordered by time, even when a wait was stored after later events', async () => {
    const ann = await world.caller()
    const postId = await createdPost(ann, { selectedPlatforms: ['bluesky', 'mastodon'] })
    const earlier = new Date(Date.now() - 60_000)
    await world.context.posts.transition(
      (await stored(postId))!,
      (post) => ({ ...post, contentVersion: post.contentVersion + 1 }),
      {
        notes: [{ at: earlier, type: 'wait', platform: 'mastodon', until: new Date() }],
      },
    )
    const { events } = (await ann.call('GET', `/${postId}/timeline`)).body.data
    expect(events.map(({ type }: { type: string }) => type)).toEqual(['wait', 'transition', 'edit'])
    const times = events.map(({ at }: { at: string }) => at)
    expect(times).toEqual(times.toSorted())
  })
})
