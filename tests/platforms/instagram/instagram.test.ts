import sharp from 'sharp'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { PlatformOptions } from '../../../src/domain/posts/options.ts'
import type { MediaItem, Published } from '../../../src/domain/posts/post.ts'
import type { Credentials, OutgoingPost } from '../../../src/platforms/contract.ts'
import { film } from '../../support/film.ts'
import { containerSuite } from '../shared/container-suite.ts'
import { instagramWorld, options, picture, type InstagramWorld } from '../shared/containers-support.ts'
import { newDelivery, newPost, platformErrorOf, searchOptions, storedMedia } from '../shared/support.ts'

const DAY_MS = 86_400_000

containerSuite({
  async start(media, { processingMs, processingWaitMs, quota } = {}) {
    return instagramWorld(
      media,
      {
        ...(processingMs !== undefined && { processingMs }),
        ...(quota !== undefined && { instagramQuota: { posts: quota, containers: 400 } }),
      },
      { ...(processingWaitMs !== undefined && { processingWaitMs }) },
    )
  },
  createPath: 'media',
  publishPath: 'media_publish',
  permanentProblem: '2207026',
  notReady: { type: 'OAuthException', code: 9_007, error_subcode: 2_207_027, message: 'Media ID is not available' },
})

describe('Instagram', () => {
  let stored: Awaited<ReturnType<typeof storedMedia>>
  let world: InstagramWorld
  let account: Credentials

  beforeAll(async () => {
    stored = await storedMedia()
    world = await instagramWorld(stored.media)
    account = await world.newAccount()
  })
  afterAll(async () => {
    await world?.stop()
    stored?.close()
  })

  const image = async (altText?: string) => stored.add(await picture(400, 400), 'image/jpeg', altText)
  const shown = async (id: string) => (await world.control.ledger()).find((entry) => entry.id === id)!

  async function publish(post: ReturnType<typeof newPost>) {
    const delivery = newDelivery()
    await world.adapter.prepare(post, account, delivery, options())
    return world.adapter.publish(post, account, delivery, options())
  }

  it('an account that its login no longer shows has to be connected again', async () => {
    const lost = await world.newAccount()
    const { pages } = world.newPerson({ instagram: false })
    world.meta.linkInstagram(pages[0]!.id, { username: lost.handle })
    expect(await platformErrorOf(world.adapter.profile(lost, options()))).toMatchObject({
      class: 'permission',
      certain: true,
      needsReconnection: true,
      message: expect.stringContaining('connect it again'),
    })
  })

  it('a single video is published as a Reel', async () => {
    const { platformPostUrl } = await publish(newPost('a reel', [await stored.add(film(), 'video/mp4')]))
    expect(platformPostUrl).toContain('/reel/')
  })

  it('images have descriptions, and videos have none', async () => {
    const post = newPost('described', [await image('A square'), await stored.add(film(), 'video/mp4', 'Waves')])
    const { platformPostId } = await publish(post)
    expect((await shown(platformPostId)).media).toEqual([
      { type: 'image/jpeg', altText: 'A square' },
      { type: 'video/mp4', altText: '' },
    ])
  })

  it.each([
    ['PNG', () => picture(600, 600, { type: 'png' }), 'image/png', 600, 600],
    ['transparent', () => picture(600, 600, { type: 'png', alpha: 0 }), 'image/png', 600, 600],
    ['a panorama', () => picture(2_000, 500), 'image/jpeg', 1_440, 754],
    ['a tower', () => picture(500, 2_000), 'image/jpeg', 1_440, 1_800],
    ['turned on its side', () => rotatedJpeg(400, 900), 'image/jpeg', 900, 472],
    ['a stamp', () => picture(100, 100), 'image/jpeg', 320, 320],
    ['a poster', () => picture(3_000, 3_000), 'image/jpeg', 1_440, 1_440],
  ])("%s becomes a JPEG within Instagram's limits", async (name, bytes, type, width, height) => {
    const before = stored.copies.length
    await publish(newPost(`shape: ${name}`, [await stored.add(await bytes(), type)]))
    const [address, ...others] = stored.copies.slice(before)
    expect(others).toEqual([])
    const copy = sharp(Buffer.from(await (await fetch(address!)).arrayBuffer()))
    expect(await copy.metadata()).toMatchObject({ format: 'jpeg', width, height })
  })

  /** Generates a JPEG like an upright camera: rotated pixels with an orientation tag. */
  async function rotatedJpeg(width: number, height: number): Promise<Uint8Array> {
    return new Uint8Array(
      await sharp(await picture(width, height))
        .withMetadata({ orientation: 6 })
        .toBuffer(),
    )
  }

  it('transparency becomes white', async () => {
    const before = stored.copies.length
    await publish(newPost('white', [await stored.add(await picture(100, 1_000), 'image/jpeg')]))
    const copy = sharp(Buffer.from(await (await fetch(stored.copies[before]!)).arrayBuffer()))
    const { data, info } = await copy.raw().toBuffer({ resolveWithObject: true })
    const at = (x: number, y: number) => [...data.subarray((y * info.width + x) * info.channels).subarray(0, 3)]
    for (const value of at(5, 5)) expect(value).toBeGreaterThan(250)
    const [red = 0, green = 0] = at(Math.floor(info.width / 2), Math.floor(info.height / 2))
    expect(red - green).toBeGreaterThan(100)
  })

  it.each([
    ['31 hashtags', Array.from({ length: 31 }, (_, i) => `#t${i}`).join(' ')],
    ['21 mentions', Array.from({ length: 21 }, (_, i) => `@p${i}`).join(' ')],
    ['2,201 characters', 'a'.repeat(2_201)],
  ])('%s is refused before anything is created', async (_, text) => {
    const as = await world.newAccount()
    const preparing = world.adapter.prepare(newPost(text, [await image()]), as, newDelivery(), options())
    expect(await platformErrorOf(preparing)).toMatchObject({ class: 'validation', certain: true })
    const made = (await world.control.requests()).filter(({ path }) => path.includes(`/${as.accountId}/media`))
    expect(made).toEqual([])
  })

  describe('the options', () => {
    const withOptions = (post: OutgoingPost, instagram: PlatformOptions['instagram']) => ({
      ...post,
      options: instagram ? { instagram } : {},
    })
    const detailsOf = ({ platformPostId }: Published) => world.store.posts.get(platformPostId)!.details
    const tag = { username: 'ann', x: 0.5, y: 0.25 }

    it('a reel has its cover, its collaborators, its tags, and stays out of the feed', async () => {
      const reel = newPost('a reel with options', [await stored.add(film(), 'video/mp4')])
      const instagram = { kind: 'reel' as const, coverAt: 1.5, collaborators: ['ann', 'bob'], shareToFeed: false }
      expect(detailsOf(await publish(withOptions(reel, { ...instagram, userTags: [{ username: 'eve' }] })))).toEqual({
        share_to_feed: false,
        thumb_offset: 1_500,
        collaborators: ['ann', 'bob'],
        user_tags: [{ username: 'eve' }],
      })
    })

    it('a cover after the end of the video is a permanent refusal', async () => {
      const reel = newPost('late cover', [await stored.add(film(), 'video/mp4')])
      expect(await platformErrorOf(publish(withOptions(reel, { coverAt: 899 })))).toMatchObject({
        class: 'validation',
        certain: true,
      })
    })

    it('a tag is in its picture of a carousel, and collaborators are of the whole', async () => {
      const post = newPost('tagged carousel', [await image(), await image()])
      const instagram = { collaborators: ['bob'], userTags: [{ ...tag, mediaItem: 1 }] }
      const published = await publish(withOptions(post, instagram))
      expect(detailsOf(published)).toEqual({ collaborators: ['bob'] })
      const [first, second] = world.store.childrenOf(account.accountId)
      expect([first!.details, second!.details]).toEqual([{}, { user_tags: [tag] }])
    })

    it('a refused tag fails before anything is published', async () => {
      const post = withOptions(newPost('a tag without a place', [await image()]), { userTags: [{ username: 'ann' }] })
      expect(await platformErrorOf(publish(post))).toMatchObject({ class: 'validation', certain: true })
      expect((await world.control.ledger()).some(({ text }) => text === post.content.text)).toBe(false)
    })
  })

  describe('a story', () => {
    const story = (item: MediaItem): OutgoingPost => ({
      ...newPost('', [item]),
      options: { instagram: { kind: 'story' } },
    })
    const upright = async () => stored.add(await picture(400, 1_000), 'image/jpeg', 'Not used')

    async function losePublished(post: OutgoingPost, as = account) {
      const delivery = newDelivery()
      await world.adapter.prepare(post, as, delivery, options())
      await world.control.addFault({
        method: 'POST',
        path: 'media_publish',
        times: 1,
        action: { dropAfterAccept: true },
      })
      expect(await platformErrorOf(world.adapter.publish(post, as, delivery, options()))).toMatchObject({
        certain: false,
      })
      return delivery
    }

    it('an image keeps its shape and a video its length, and neither is in the list of posts', async () => {
      const copies = stored.copies.length
      const published = await publish(story(await upright()))
      expect(stored.copies).toHaveLength(copies)
      await publish(story(await stored.add(film(), 'video/mp4')))
      expect(published.platformPostUrl).toContain(`/stories/${account.handle}/`)
      expect(world.store.storiesOf(account.accountId)).toHaveLength(2)
      expect(world.store.postsOf(account.accountId).some(({ isStory }) => isStory)).toBe(false)
      expect((await shown(published.platformPostId)).media).toEqual([{ type: 'image/jpeg', altText: '' }])
    })

    it('a story whose response is lost is found among the stories of its time', async () => {
      const as = await world.newAccount()
      const other = story(await upright())
      const first = newDelivery()
      await world.adapter.prepare(other, as, first, options())
      const taken = await world.adapter.publish(other, as, first, options())
      const post = story(await upright())
      const delivery = await losePublished(post, as)
      const [mine] = world.store.storiesOf(as.accountId)
      const isTaken = async (id: string) => id === taken.platformPostId
      expect(await world.adapter.reconcile(post, as, delivery, searchOptions({ isTaken }))).toMatchObject({
        platformPostId: mine!.id,
      })
    })

    it('a lost story is undecidable when the login may not list stories', async () => {
      const as = await world.newAccountWithout('instagram_manage_insights')
      const post = story(await upright())
      const delivery = await losePublished(post, as)
      expect(await world.adapter.reconcile(post, as, delivery, searchOptions())).toBe('undecidable')
    })

    it('a restored story is never absent, and found by its container only', async () => {
      const [as, post, delivery] = [await world.newAccount(), story(await upright()), newDelivery()]
      const restored = searchOptions({ isRestored: true })
      expect(await world.adapter.reconcile(post, as, delivery, restored)).toBe('undecidable')
      await world.adapter.prepare(post, as, delivery, options())
      expect(await world.adapter.reconcile(post, as, delivery, restored)).toBe('undecidable')
      const { platformPostId } = await world.adapter.publish(post, as, delivery, options())
      expect(await world.adapter.reconcile(post, as, delivery, restored)).toMatchObject({ platformPostId })
    })
  })

  it('no URL contains a token', async () => {
    await publish(newPost('no token', [await image()]))
    const requests = await world.control.requests()
    expect(requests.length).toBeGreaterThan(3)
    for (const { path } of requests) expect(path).not.toContain('EAA')
  })

  describe('an Instagram token', () => {
    it('a token gets a new lifetime when it is exchanged again', async () => {
      const as = await world.newAccount()
      const old = { ...as, endsAt: new Date(Date.now() + 5 * DAY_MS) }
      const renewed = await world.adapter.renew(old, options())
      expect(renewed.accessToken).not.toBe(as.accessToken)
      expect(renewed).toMatchObject({ accountId: as.accountId, handle: as.handle })
      expect(renewed.endsAt!.getTime()).toBeGreaterThan(old.endsAt.getTime())
    })

    it.each([
      ['no later end', { access_token: 'EAAother', token_type: 'bearer', expires_in: 60 }],
      ['no end', { access_token: 'EAAother', token_type: 'bearer' }],
    ])('a token stays unchanged when the platform names %s', async (_, body) => {
      const { version, ...same } = { ...account, endsAt: new Date(Date.now() + 5 * DAY_MS) }
      await world.control.addFault({ path: '/oauth/access_token', times: 1, action: { status: 200, body } })
      expect(await world.adapter.renew({ ...same, version }, options())).toEqual(same)
    })
  })

  it.each([
    [-2, 2_207_003, 'media_fetch_failed', true],
    [-2, 2_207_020, 'media_not_ready', true],
    [-1, 2_207_001, 'transient', false],
    [-1, 2_207_032, 'transient', true],
    [-1, 2_207_053, 'media_fetch_failed', true],
    [4, 2_207_051, 'blocked_by_platform', true],
    [9, 2_207_042, 'rate_limited', true],
    [24, 2_207_006, 'media_not_ready', true],
    [24, 2_207_008, 'media_not_ready', true],
    [25, 2_207_050, 'blocked_by_platform', true],
    [100, 2_207_023, 'validation', true],
    [100, 2_207_028, 'validation', true],
    [100, 2_207_035, 'validation', true],
    [100, 2_207_040, 'validation', true],
    [352, 2_207_026, 'validation', true],
    [9_004, 2_207_052, 'media_fetch_failed', true],
    [9_007, 2_207_027, 'media_not_ready', true],
    [36_000, 2_207_004, 'validation', true],
    [36_001, 2_207_005, 'validation', true],
    [36_003, 2_207_009, 'validation', true],
    [36_004, 2_207_010, 'validation', true],
    [100, 33, 'media_not_ready', true],
    [190, 463, 'unauthorized', true],
    [10, undefined, 'permission', true],
    [80_002, undefined, 'rate_limited', true],
    [2, undefined, 'transient', false],
  ])('%s/%s at the visible call is %s', async (code, subcode, errorClass, certain) => {
    const post = newPost('refused', [await image()])
    const delivery = newDelivery()
    await world.adapter.prepare(post, account, delivery, options())
    const body = {
      error: { type: 'OAuthException', message: 'm', code, ...(subcode !== undefined && { error_subcode: subcode }) },
    }
    await world.control.addFault({ method: 'POST', path: 'media_publish', times: 1, action: { status: 400, body } })
    const refused = await platformErrorOf(world.adapter.publish(post, account, delivery, options()))
    expect(refused).toMatchObject({ class: errorClass, certain })
    expect(refused.message).toMatch(/^Instagram /)
  })
})
