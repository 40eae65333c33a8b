import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Credentials, OutgoingPost } from '../../../src/platforms/contract.ts'
import { film } from '../../support/film.ts'
import { containerSuite } from '../shared/container-suite.ts'
import { options, picture, REDIRECT_URI, threadsWorld, type ThreadsWorld } from '../shared/containers-support.ts'
import { newDelivery, newPost, platformErrorOf, searchOptions, storedMedia, withVersion } from '../shared/support.ts'
import { chooseFirst } from '../shared/choose-first.ts'

const DAY_MS = 86_400_000

containerSuite({
  async start(media, { processingMs, processingWaitMs, quota } = {}) {
    const world = await threadsWorld(
      media,
      {
        ...(processingMs !== undefined && { processingMs: { image: processingMs, video: processingMs } }),
        ...(quota !== undefined && { quota }),
      },
      { ...(processingWaitMs !== undefined && { processingWaitMs }) },
    )
    return { ...world, store: world.threads.store }
  },
  createPath: 'threads',
  publishPath: 'threads_publish',
  permanentProblem: 'INVALID_DURATION',
  notReady: {
    type: 'OAuthException',
    code: 24,
    error_subcode: 4_279_009,
    message: 'The requested resource does not exist',
  },
})

describe('Threads', () => {
  let stored: Awaited<ReturnType<typeof storedMedia>>
  let world: ThreadsWorld
  let account: Credentials

  beforeAll(async () => {
    stored = await storedMedia()
    world = await threadsWorld(stored.media)
    account = await world.newAccount()
  })
  afterAll(async () => {
    await world?.stop()
    stored?.close()
  })

  describe('connect', () => {
    it('the login requests the documented permissions', async () => {
      const { url } = await world.redirect.begin({ state: 's&1', redirectUri: REDIRECT_URI }, options())
      const { origin, pathname, searchParams } = new URL(url)
      expect(`${origin}${pathname}`).toBe(`${world.threads.url}/oauth/authorize`)
      expect(Object.fromEntries(searchParams)).toEqual({
        client_id: world.app.id,
        redirect_uri: REDIRECT_URI,
        scope: 'threads_basic,threads_content_publish,threads_manage_insights',
        response_type: 'code',
        state: 's&1',
      })
    })

    it('the login brings a token for sixty days and the profile, with the exact id', async () => {
      const { id, username } = world.threads.createAccount({ username: 'whole.digits', name: 'Whole Digits' })
      const { credentials, profile } = await world.connection(id)
      expect(Number.isSafeInteger(Number(id))).toBe(false)
      expect(credentials).toMatchObject({ accountId: id, handle: username })
      expect((credentials.endsAt!.getTime() - Date.now()) / DAY_MS).toBeCloseTo(60, 0)
      expect(credentials.expiresAt).toBeUndefined()
      expect(profile).toMatchObject({ displayName: 'Whole Digits', handle: username })
    })

    it('a denial on the page is reported without a call', async () => {
      const { id } = world.threads.createAccount({ username: 'denier' })
      const calls = async () =>
        (await world.control.requests()).filter(({ path }) => path.includes('access_token')).length
      const before = await calls()
      expect(await platformErrorOf(world.connection(id, 'deny'))).toMatchObject({ class: 'permission' })
      expect(await calls()).toBe(before)
    })

    it('a code with the trailing fragment works, and a used code is refused', async () => {
      const { id } = world.threads.createAccount({ username: 'ending' })
      const { url } = await world.redirect.begin({ state: 's', redirectUri: REDIRECT_URI }, options())
      const location = await decide(url, id)
      const code = new URL(location).searchParams.get('code')!
      expect(location.endsWith('#_')).toBe(true)
      const complete = () =>
        world.redirect.complete(
          { query: { code: `${code}#_` }, redirectUri: REDIRECT_URI, choose: chooseFirst, secrets: {} },
          options(),
        )
      await complete()
      expect(await platformErrorOf(complete())).toMatchObject({ class: 'validation', certain: true })
    })

    it('a login without the scope for publishing is refused', async () => {
      const { id } = world.threads.createAccount({ username: 'stingy' })
      const { url } = await world.redirect.begin({ state: 's', redirectUri: REDIRECT_URI }, options())
      const code = new URL(await decide(url, id, 'threads_content_publish')).searchParams.get('code')!
      const completing = world.redirect.complete(
        { query: { code }, redirectUri: REDIRECT_URI, choose: chooseFirst, secrets: {} },
        options(),
      )
      expect(await platformErrorOf(completing)).toMatchObject({ class: 'permission', certain: true })
    })

    async function decide(url: string, id: string, decline = ''): Promise<string> {
      const body = new URLSearchParams({ account: id, decision: 'allow', decline })
      return (await fetch(url, { method: 'POST', body, redirect: 'manual' })).headers.get('location')!
    }
  })

  describe('a Threads token', () => {
    const ownTokens = async (since: number) =>
      (await world.control.requests()).slice(since).filter(({ path }) => path.startsWith('/refresh_access_token'))

    it('a token is renewed for another sixty days', async () => {
      const as = await world.newAccount()
      world.threads.ageTokens(as.accountId, 50 * DAY_MS)
      const renewed = await world.adapter.renew(as, options())
      expect(renewed.accessToken).not.toBe(as.accessToken)
      expect((renewed.endsAt!.getTime() - Date.now()) / DAY_MS).toBeCloseTo(60, 0)
      await world.adapter.profile({ ...renewed, version: 2 }, options())
    })

    it('a token younger than a day stays unchanged', async () => {
      const as = await world.newAccount()
      const { version: _, ...same } = as
      expect(await world.adapter.renew(as, options())).toEqual(same)
      expect((await ownTokens(0)).length).toBeGreaterThan(0)
    })

    it('an expired token cannot be renewed', async () => {
      const as = await world.newAccount()
      world.threads.ageTokens(as.accountId, 61 * DAY_MS)
      expect(await platformErrorOf(world.adapter.renew(as, options()))).toMatchObject({
        class: 'unauthorized',
        certain: true,
      })
    })
  })

  describe('a reply', () => {
    async function replyOn({ adapter }: Pick<ThreadsWorld, 'adapter'>, as: Credentials, root: string, text: string) {
      const replyTo = { rootId: root, parentId: root }
      const [reply, delivery] = [{ ...newPost(text), replyTo }, newDelivery()]
      await adapter.prepare(reply, as, delivery, options())
      return { reply, delivery, publish: () => adapter.publish(reply, as, delivery, options()) }
    }

    it('a lost reply is undecidable when the login may not list replies', async () => {
      const { id } = world.threads.store.publishElsewhere(account.accountId, 'root')
      const { reply, delivery, publish } = await replyOn(world, account, id, 'unlisted')
      await world.control.addFault({ path: 'threads_publish', times: 1, action: { dropAfterAccept: true } })
      await platformErrorOf(publish())
      expect(await world.adapter.reconcile(reply, account, delivery, searchOptions())).toBe('undecidable')
    })

    it('an exhausted quota of replies is reported with a wait, and says nothing about the quota of posts', async () => {
      const extraScopes = ['threads_manage_replies']
      const tight = await threadsWorld(stored.media, { replyQuota: 1 }, { extraScopes })
      try {
        const as = await tight.newAccount()
        const { id } = tight.threads.store.publishElsewhere(as.accountId, 'root')
        await (await replyOn(tight, as, id, 'one')).publish()
        const refused = await platformErrorOf((await replyOn(tight, as, id, 'two')).publish())
        expect(refused).toMatchObject({ class: 'rate_limited', certain: true, retryAfterMs: 3_600_000, reports: [] })
        expect(refused.message).toContain('accepts one reply of an account in 24 hours')
        expect(await tight.adapter.readPublicationQuota(as, options())).toMatchObject([{ limit: 250, remaining: 249 }])
      } finally {
        await tight.stop()
      }
    })
  })

  describe('the options', () => {
    const poll = { options: ['By boat', 'On foot'] }
    const threads = { replyControl: 'mentioned' as const, topicTag: 'Harbours', poll }

    async function publish(post: OutgoingPost) {
      const delivery = newDelivery()
      await world.adapter.prepare(post, account, delivery, options())
      const { platformPostId } = await world.adapter.publish(post, account, delivery, options())
      const query = new URLSearchParams({
        fields: 'reply_audience,topic_tag,poll_attachment',
        access_token: account.accessToken,
      })
      return (await fetch(`${world.threads.url}/v1.0/${platformPostId}?${query}`)).json()
    }

    it('a post has its reply control, its topic and its poll', async () => {
      expect(await publish({ ...newPost('How do you get there?'), options: { threads } })).toMatchObject({
        reply_audience: 'MENTIONED_ONLY',
        topic_tag: 'Harbours',
        poll_attachment: { option_a: 'By boat', option_b: 'On foot' },
      })
    })

    it.each([1, 2])('a post with %i images has its reply control and its topic', async (count) => {
      const items = await Promise.all(
        Array.from({ length: count }, async () => stored.add(await picture(400, 400), 'image/jpeg')),
      )
      const { poll: _, ...others } = threads
      const post = { ...newPost(`${count} images`, items), options: { threads: others } }
      expect(await publish(post)).toMatchObject({ reply_audience: 'MENTIONED_ONLY', topic_tag: 'Harbours' })
    })

    it('a reply of the thread has the reply control only', async () => {
      const { id } = world.threads.store.publishElsewhere(account.accountId, 'root')
      const reply = { ...newPost('further'), options: { threads }, replyTo: { rootId: id, parentId: id } }
      const { id: _, ...shown } = (await publish(reply)) as Record<string, unknown>
      expect(shown).toEqual({ reply_audience: 'MENTIONED_ONLY' })
    })

    describe('as a story on Instagram', () => {
      const post = () => ({ ...newPost(`shared ${Math.random()}`), options: { threads: { crossreshare: true } } })
      let sharing: ThreadsWorld
      beforeAll(async () => {
        sharing = await threadsWorld(stored.media, {}, { extraScopes: ['threads_share_to_instagram'] })
      })
      afterAll(() => sharing?.stop())

      async function share(as: Credentials, shared: OutgoingPost, delivery = newDelivery()) {
        await sharing.adapter.prepare(shared, as, delivery, options())
        return sharing.adapter.publish(shared, as, delivery, options())
      }
      const newUnlinked = async () => {
        const { id } = sharing.threads.createAccount({ username: `unlinked${Date.now()}`, isUnlinked: true })
        return withVersion((await sharing.connection(id)).credentials)
      }

      it('a warning says when Threads shared no story', async () => {
        expect(await share(await sharing.newAccount(), post())).not.toHaveProperty('warning')
        expect(await share(await newUnlinked(), post())).toMatchObject({
          warning: expect.stringContaining('could not share'),
        })
      })

      it('a warning says when a lost response leaves it open', async () => {
        const [as, shared, delivery] = [await sharing.newAccount(), post(), newDelivery()]
        await sharing.control.addFault({ path: 'threads_publish', times: 1, action: { dropAfterAccept: true } })
        await platformErrorOf(share(as, shared, delivery))
        expect(await sharing.adapter.reconcile(shared, as, delivery, searchOptions())).toMatchObject({
          warning: expect.stringContaining('did not say'),
        })
      })

      it('a login without the permission is refused before anything is published', async () => {
        const delivery = newDelivery()
        const preparing = world.adapter.prepare(post(), account, delivery, options())
        expect(await platformErrorOf(preparing)).toMatchObject({ class: 'permission', certain: true })
      })
    })

    it('a poll beside an image is refused before anything is published', async () => {
      const item = await stored.add(await picture(400, 400), 'image/jpeg')
      const post = { ...newPost('refused poll', [item]), options: { threads } }
      expect(await platformErrorOf(publish(post))).toMatchObject({ class: 'validation', certain: true })
      expect((await world.control.ledger()).some(({ text }) => text === 'refused poll')).toBe(false)
    })
  })

  it('a PNG stays a PNG with its transparency', async () => {
    const item = await stored.add(await picture(400, 400, { type: 'png', alpha: 0.5 }), 'image/png', 'Half')
    const before = stored.copies.length
    const delivery = newDelivery()
    const post = newPost('png', [item])
    await world.adapter.prepare(post, account, delivery, options())
    await world.adapter.publish(post, account, delivery, options())
    expect(stored.copies).toHaveLength(before)
  })

  it('videos have descriptions, too', async () => {
    const post = newPost('described', [await stored.add(film(), 'video/mp4', 'Waves')])
    const delivery = newDelivery()
    await world.adapter.prepare(post, account, delivery, options())
    const { platformPostId } = await world.adapter.publish(post, account, delivery, options())
    const entry = (await world.control.ledger()).find(({ id }) => id === platformPostId)
    expect(entry!.media).toEqual([{ type: 'video/mp4', altText: 'Waves' }])
  })

  it.each([
    [{ code: 24, error_subcode: 4_279_009 }, 'media_not_ready', true],
    [{ code: 24 }, 'media_not_ready', true],
    [{ code: 1, error_subcode: 2_207_052 }, 'media_fetch_failed', true],
    [{ code: 1, error_subcode: 2_207_052, message: 'Von dieser URI nicht abrufbar' }, 'media_fetch_failed', true],
    [{ code: 1, error_subcode: 2_207_051 }, 'blocked_by_platform', true],
    [{ code: 100, error_subcode: 4_279_013 }, 'blocked_by_platform', true],
    [{ code: 1, message: 'THREADS_API__LINK_LIMIT_EXCEEDED' }, 'validation', true],
    [{ code: 100 }, 'validation', true],
    [{ code: 190 }, 'unauthorized', true],
    [{ code: 10 }, 'permission', true],
    [{ code: 4 }, 'rate_limited', true],
    [{ code: 2 }, 'transient', false],
  ])('%j at the visible call is %s', async (fields, errorClass, certain) => {
    const delivery = newDelivery()
    const post = newPost('refused')
    await world.adapter.prepare(post, account, delivery, options())
    const action = { status: 400, body: { error: { message: 'm', type: 'THApiException', ...fields } } }
    await world.control.addFault({ method: 'POST', path: 'threads_publish', times: 1, action })
    const refused = await platformErrorOf(world.adapter.publish(post, account, delivery, options()))
    expect(refused).toMatchObject({ class: errorClass, certain })
    expect(refused.message).toMatch(/^Threads /)
  })

  it('a container that the platform has lost is created again', async () => {
    const delivery = newDelivery()
    const post = newPost('lost container')
    await world.adapter.prepare(post, account, delivery, options())
    const action = { status: 400, body: { error: { type: 'OAuthException', code: 24, message: 'm' } } }
    await world.control.addFault({ method: 'POST', path: 'threads_publish', times: 1, action })
    await platformErrorOf(world.adapter.publish(post, account, delivery, options()))
    expect(delivery.get('container')).toBe('')
    await world.adapter.prepare(post, account, delivery, options())
    await world.adapter.publish(post, account, delivery, options())
  })
})
