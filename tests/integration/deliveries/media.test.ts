import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import sharp from 'sharp'
import { createPost } from '../../../src/commands/posts/create-post.ts'
import type { WholePostInput } from '../../../src/commands/posts/post-input.ts'
import { MAX_UPLOAD_BYTES } from '../../../src/domain/posts/posting-rules.ts'
import type { MediaItem } from '../../../src/domain/posts/post.ts'
import { PLATFORMS, type Platform } from '../../../src/domain/shared/platforms.ts'
import { startPlatformsWorld, type PlatformsWorld } from '../../support/platforms-world.ts'

// Media that one platform cannot publish fails with a reason on that platform and is published on the others.

type User = Awaited<ReturnType<PlatformsWorld['user']>>

let world: PlatformsWorld
let picture: Buffer<ArrayBuffer>

beforeAll(async () => {
  world = await startPlatformsWorld()
  picture = Buffer.from(
    await sharp({ create: { width: 640, height: 640, channels: 3, background: 'teal' } })
      .jpeg()
      .toBuffer(),
  )
})
afterEach(() => world?.clearFaults())
afterAll(() => world?.stop())

const TOO_LARGE = MAX_UPLOAD_BYTES.image + 1

const BROKEN: [string, (user: User) => Promise<object>][] = [
  [
    'was never uploaded, or is gone',
    async ({ userId }) => ({
      storageKey: `posts/${userId}/00000000-0000-4000-8000-000000000000.jpg`,
      mimeType: 'image/jpeg',
    }),
  ],
  ['is empty', (user) => user.upload(Buffer.alloc(0), 'image/jpeg')],
  ['is no image or video', (user) => user.upload(Buffer.from('<script>alert(1)</script>'), 'image/jpeg')],
  ['is cut off or damaged', (user) => user.upload(picture.subarray(0, picture.length - 200), 'image/jpeg')],
  [
    `is too large: ${TOO_LARGE} of at most ${MAX_UPLOAD_BYTES.image} bytes`,
    (user) => user.upload(Buffer.concat([picture], TOO_LARGE), 'image/jpeg'),
  ],
]

/** Creates a post whose files could not be read in time. */
async function createUnchecked(user: User, input: WholePostInput): Promise<string> {
  const { context } = world
  const media = { ...context.media, readFile: () => Promise.reject(new Error('The storage is slow')) }
  const request = { userId: user.userId, input, metadata: { source: 'api', client: 'api' } as const, idempotency: null }
  const { data } = await createPost({ ...context, media }, request)
  expect(data.warnings).toContainEqual(expect.objectContaining({ code: 'MEDIA_UNCHECKED' }))
  return data.postId
}

describe.each(PLATFORMS)('broken media on %s', (platform: Platform) => {
  it.each(BROKEN)('a file that %s fails the post on that platform alone', async (problem, makeBroken) => {
    const user = await world.user()
    // The first kind of broken file is tested with all platforms, every other kind with two.
    const next = PLATFORMS[(PLATFORMS.indexOf(platform) + 1) % PLATFORMS.length]!
    const all = problem === BROKEN[0]![0] ? [...PLATFORMS] : [platform, next]
    const good = await user.upload(picture, 'image/jpeg')
    const broken = (await makeBroken(user)) as MediaItem
    const input = {
      content: { text: 'Broken in one place', mediaItems: [good] },
      platformSpecificContent: { [platform]: { mediaItems: [broken] } },
      selectedPlatforms: all,
    }
    const postId = await createUnchecked(user, input)
    const { status, platformStatuses } = await user.until(postId)
    expect(status).toBe('PARTIAL_SUCCESS')
    for (const entry of platformStatuses) {
      const records = await user.published(entry.platform as Platform)
      if (entry.platform === platform) {
        expect(entry).toMatchObject({ status: 'failed', errorCode: 'MEDIA_UNAVAILABLE', platformPostId: null })
        expect(entry.error).toContain(problem)
        expect(records).toEqual([])
      } else {
        expect(entry).toMatchObject({ status: 'completed', error: null })
        expect(records).toHaveLength(1)
      }
    }
    const failures = (await world.notificationsOf(user.userId)).filter(({ type }) => type === 'error')
    expect(failures.map(({ message }) => message)).toEqual([expect.stringContaining(`A file of the post ${problem}`)])
  })
})

it('many large images of one user do not delay the post of another user', async () => {
  const [many, one] = [await world.user(), await world.user()]
  const large = await sharp({ create: { width: 4_000, height: 3_000, channels: 3, background: 'teal' } })
    .jpeg()
    .withExif({ IFD0: { Copyright: 'Owner' } })
    .toBuffer()
  const postOf = (user: User, mediaItems: object[]) =>
    user.create({ content: { text: 'Large', mediaItems }, selectedPlatforms: ['bluesky'] })
  const manyPosts = await Promise.all(
    Array.from({ length: 6 }, async () => {
      const copies = await Promise.all([1, 2].map(() => many.upload(Buffer.from(large), 'image/jpeg')))
      return postOf(many, copies)
    }),
  )
  const onePost = await postOf(one, [await one.upload(picture, 'image/jpeg')])
  expect((await one.until(onePost)).status).toBe('COMPLETED')
  // Only posts that were already ahead in the queue, and the one in progress, may be published first.
  expect((await many.published('bluesky')).length).toBeLessThanOrEqual(3)
  for (const postId of manyPosts) expect((await many.until(postId)).status).toBe('COMPLETED')
  expect(await many.published('bluesky')).toHaveLength(6)
})
