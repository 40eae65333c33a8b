import { expect, afterAll, beforeAll, beforeEach, describe, it } from 'vitest'
import type { ContainerStore } from '../../../../sandbox/platforms/shared/graph/container-store.ts'
import type { Published } from '../../../../src/domain/posts/post.ts'
import type {
  Credentials,
  DeliveryCheckpoints,
  MediaSource,
  OutgoingPost,
  PlatformAdapter,
} from '../../../../src/platforms/contract.ts'
import { options, picture } from './containers-support.ts'
import { film } from '../../../support/film.ts'
import { answeredByOthers } from './foreign-suite.ts'
import {
  LOST_ANSWERS,
  LOST_CALLS,
  newDelivery,
  newPost,
  platformErrorOf,
  searchOptions,
  storedMedia,
  type controlOf,
} from './support.ts'

const HOUR = 3_600_000

/** A platform on which posts are containers first: its simulator, and an adapter for it. */
export interface ContainerWorld {
  adapter: PlatformAdapter
  control: ReturnType<typeof controlOf>
  store: Pick<ContainerStore, 'failNext' | 'age' | 'publishElsewhere' | 'rewrite'>
  newAccount(): Promise<Credentials>
  stop(): Promise<void>
}

interface Suite {
  start(
    media: MediaSource,
    times?: { processingMs?: number; processingWaitMs?: number; quota?: number },
  ): Promise<ContainerWorld>
  /** The last parts of the paths by which containers are made and published. */
  createPath: string
  publishPath: string
  /** How a container tells that the work on it failed for good. */
  permanentProblem: string
  /** How the platform says that a container is not ready. */
  notReady: object
}

type Stored = Awaited<ReturnType<typeof storedMedia>>

/** What holds of every platform on which posts are containers first. */
export function containerSuite({ start, createPath, publishPath, permanentProblem, notReady }: Suite): void {
  let stored: Stored
  let world: ContainerWorld
  let account: Credentials

  beforeAll(async () => {
    stored = await storedMedia()
    world = await start(stored.media)
    account = await world.newAccount()
  })
  afterAll(async () => {
    await world?.stop()
    stored?.close()
  })
  beforeEach(() => world.control.clearFaults())

  const image = async (altText?: string) => stored.add(await picture(400, 400), 'image/jpeg', altText)
  const video = (altText?: string) => stored.add(film(), 'video/mp4', altText)
  const imagePost = async (text: string): Promise<OutgoingPost> => newPost(text, [await image()])
  const prepare = (post: OutgoingPost, delivery: DeliveryCheckpoints, as = account, by = world) =>
    by.adapter.prepare(post, as, delivery, options())
  const commit = (post: OutgoingPost, delivery: DeliveryCheckpoints, as = account, by = world) =>
    by.adapter.publish(post, as, delivery, options())
  const reconcile = (post: OutgoingPost, delivery: DeliveryCheckpoints, overrides = {}, as = account) =>
    world.adapter.reconcile(post, as, delivery, searchOptions(overrides))

  async function publish(
    post: OutgoingPost,
    delivery: DeliveryCheckpoints = newDelivery(),
    as = account,
  ): Promise<Published> {
    await prepare(post, delivery, as)
    return commit(post, delivery, as)
  }

  const withText = async (text: string) => (await world.control.ledger()).filter((entry) => entry.text === text)

  async function requestsTo(path: string, { accountId } = account): Promise<number> {
    const ends = new RegExp(`/${accountId}/${path}$`)
    return (await world.control.requests()).filter(({ method, path: called }) => method === 'POST' && ends.test(called))
      .length
  }

  const containerOf = (delivery: DeliveryCheckpoints) => (JSON.parse(delivery.get('container')!) as { id: string }).id

  describe('a post', () => {
    it('is seen by nobody before it is published, and then at its address', async () => {
      const post = await imagePost('hidden, then seen')
      const delivery = newDelivery()
      await prepare(post, delivery)
      expect(await withText(post.content.text)).toEqual([])
      const { platformPostId, platformPostUrl } = await commit(post, delivery)
      expect(await withText(post.content.text)).toMatchObject([{ id: platformPostId, account: account.handle }])
      expect((await fetch(platformPostUrl)).status).toBe(200)
    })

    it('may be a video, with the work on it waited for', async () => {
      const post = newPost('a film', [await video()])
      await publish(post)
      expect(await withText('a film')).toMatchObject([{ media: [{ type: 'video/mp4' }] }])
    })

    it('may be a carousel of both, in their order', async () => {
      const items = [await image('First'), await video(), await image('Third')]
      await publish(newPost('a carousel', items))
      expect(await withText('a carousel')).toMatchObject([
        {
          media: [
            { type: 'image/jpeg', altText: 'First' },
            { type: 'video/mp4' },
            { type: 'image/jpeg', altText: 'Third' },
          ],
        },
      ])
    })

    it('is prepared once, however often it is asked for', async () => {
      const as = await world.newAccount()
      const post = newPost('asked for again', [await image(), await image()])
      const delivery = newDelivery()
      await prepare(post, delivery, as)
      await prepare(post, delivery, as)
      expect(await requestsTo(createPath, as)).toBe(3)
    })

    it('is not asked about again right before its instant, unless a call was made for it', async () => {
      const as = await world.newAccount()
      const post = newPost('seen ready', [await image()])
      const delivery = newDelivery()
      await prepare(post, delivery, as)
      const looks = async () =>
        (await world.control.requests()).filter(({ path }) => path.includes(`/${containerOf(delivery)}?`)).length
      const before = await looks()
      await prepare(post, delivery, as)
      expect(await looks()).toBe(before)
      await world.control.addFault({ method: 'POST', path: publishPath, times: 1, action: { cut: true } })
      await platformErrorOf(commit(post, delivery, as))
      await prepare(post, delivery, as)
      expect(await looks()).toBe(before + 1)
    })

    it('goes on where an earlier preparation was broken off', async () => {
      const as = await world.newAccount()
      const post = newPost('broken off', [await image(), await image()])
      const delivery = newDelivery()
      await world.control.addFault({ method: 'GET', path: 'fields=status', times: 1, action: { status: 503 } })
      expect(await platformErrorOf(prepare(post, delivery, as))).toMatchObject({ class: 'transient' })
      await prepare(post, delivery, as)
      expect(await requestsTo(createPath, as)).toBe(3)
    })

    it('whose text or media the platform would not take is refused before anything is made', async () => {
      const as = await world.newAccount()
      const many = await Promise.all(Array.from({ length: 21 }, () => image()))
      for (const post of [newPost('a'.repeat(2_201), [await image()]), newPost('', many)]) {
        expect(await platformErrorOf(publish(post, newDelivery(), as))).toMatchObject({
          class: 'validation',
          certain: true,
        })
      }
      expect(await requestsTo(createPath, as)).toBe(0)
    })

    it('that was not prepared is not published', async () => {
      const as = await world.newAccount()
      expect(await platformErrorOf(commit(await imagePost('x'), newDelivery(), as))).toMatchObject({
        class: 'media_not_ready',
        certain: true,
      })
      expect(await requestsTo(publishPath, as)).toBe(0)
    })

    it('stays published when its address cannot be had', async () => {
      const post = await imagePost('no address')
      const delivery = newDelivery()
      await prepare(post, delivery)
      await world.control.addFault({ path: 'fields=permalink', times: 1, action: { hang: true } })
      const { platformPostId, platformPostUrl } = await commit(post, delivery)
      expect(await withText('no address')).toMatchObject([{ id: platformPostId }])
      expect(platformPostUrl).toContain(account.handle)
    })
  })

  describe('images', () => {
    it('are fetched as they are when the platform takes them so', async () => {
      const item = await image()
      await publish(newPost('as it is', [item]))
      expect(stored.kept.filter((address) => address.includes(item.storageKey))).toEqual([])
    })

    it.each([
      ['of a type that it does not take', () => picture(400, 400, { type: 'webp' }), 'image/webp'],
      ['that are too wide', () => picture(2_400, 100), 'image/jpeg'],
      ['that are too high', () => picture(40, 900), 'image/jpeg'],
      ['that are too small', () => picture(16, 16), 'image/jpeg'],
      ['that are transparent', () => picture(400, 400, { type: 'webp', alpha: 0.2 }), 'image/webp'],
    ])('%s are converted', async (name, bytes, type) => {
      const text = `converted: ${name}`
      const before = stored.kept.length
      await publish(newPost(text, [await stored.add(await bytes(), type)]))
      expect(stored.kept).toHaveLength(before + 1)
      expect(await withText(text)).toHaveLength(1)
    })
  })

  describe('a container', () => {
    it.each([
      ['ended', 25 * HOUR],
      ['is about to end', 21 * HOUR],
    ])('that %s is made again, its children too', async (name, age) => {
      const as = await world.newAccount()
      const post = newPost(`aged: ${name}`, [await image(), await image()])
      const delivery = newDelivery()
      await prepare(post, delivery, as)
      const first = containerOf(delivery)
      world.store.age(first, age)
      const kept = JSON.parse(delivery.get('container')!) as { createdAt: number }
      await delivery.save('container', JSON.stringify({ ...kept, createdAt: kept.createdAt - age }))
      await publish(post, delivery, as)
      expect(containerOf(delivery)).not.toBe(first)
      expect(await requestsTo(createPath, as)).toBe(6)
      expect(await withText(post.content.text)).toHaveLength(1)
    })

    it('of a carousel that was never finished is made again when it is about to end', async () => {
      const as = await world.newAccount()
      const post = newPost('left unfinished', [await image(), await image()])
      const delivery = newDelivery()
      await prepare(post, delivery, as)
      const child = JSON.parse(delivery.get('container.0')!) as { id: string; createdAt: number }
      await delivery.save('container.0', JSON.stringify({ ...child, createdAt: child.createdAt - 21 * HOUR }))
      await delivery.save('container', '')
      await publish(post, delivery, as)
      expect(delivery.get('container.0')).not.toContain(child.id)
      expect(await requestsTo(createPath, as)).toBe(5)
    })

    it('on which the work failed is made again', async () => {
      const post = await imagePost('failed at first')
      const delivery = newDelivery()
      world.store.failNext('UNKNOWN')
      const failed = await platformErrorOf(prepare(post, delivery))
      expect(failed).toMatchObject({ class: 'media_fetch_failed', retryAfterMs: 30_000 })
      await publish(post, delivery)
      expect(await withText(post.content.text)).toHaveLength(1)
    })

    it('on which the work failed for good is refused', async () => {
      world.store.failNext(permanentProblem)
      expect(await platformErrorOf(prepare(await imagePost('x'), newDelivery()))).toMatchObject({ class: 'validation' })
    })

    it('that takes its time is looked at again, and not made again', async () => {
      const slow = await start(stored.media, { processingMs: 2_500, processingWaitMs: 700 })
      try {
        const as = await slow.newAccount()
        const post = newPost('slow', [await video()])
        const delivery = newDelivery()
        expect(await platformErrorOf(prepare(post, delivery, as, slow))).toMatchObject({ class: 'media_not_ready' })
        const made = containerOf(delivery)
        await expect
          .poll(
            () =>
              prepare(post, delivery, as, slow).then(
                () => true,
                () => false,
              ),
            { timeout: 15_000 },
          )
          .toBe(true)
        await commit(post, delivery, as, slow)
        expect(containerOf(delivery)).toBe(made)
        expect(await slow.control.ledger()).toHaveLength(1)
      } finally {
        await slow.stop()
      }
    })

    it('that the platform calls not ready is waited for', async () => {
      const post = await imagePost('too early')
      const delivery = newDelivery()
      await prepare(post, delivery)
      const body = { error: notReady }
      await world.control.addFault({ method: 'POST', path: publishPath, times: 1, action: { status: 400, body } })
      expect(await platformErrorOf(commit(post, delivery))).toMatchObject({ class: 'media_not_ready', certain: true })
      await publish(post, delivery)
      expect(await withText('too early')).toHaveLength(1)
    })
  })

  answeredByOthers(async () => ({ ...world, account: await world.newAccount(), post: await imagePost('others') }))

  describe('exactly one post', () => {
    it.each(LOST_ANSWERS)('when the platform published and %s', async (name, action) => {
      const delivery = newDelivery()
      const post = await imagePost(`published, and ${name}`)
      await prepare(post, delivery)
      await world.control.addFault({ method: 'POST', path: publishPath, times: 1, action })
      expect(await platformErrorOf(commit(post, delivery))).toMatchObject({ class: 'transient', certain: false })
      const [entry, ...others] = await withText(post.content.text)
      expect(others).toEqual([])
      const found = await reconcile(post, delivery)
      expect(found).toMatchObject({ platformPostId: entry!.id })
      expect((await fetch((found as Published).platformPostUrl)).status).toBe(200)
    })

    it.each(LOST_CALLS)('when the call gets nowhere: %s', async (name, action) => {
      const delivery = newDelivery()
      const post = await imagePost(`not published: ${name}`)
      await prepare(post, delivery)
      await world.control.addFault({ method: 'POST', path: publishPath, times: 1, action })
      expect(await platformErrorOf(commit(post, delivery))).toMatchObject({ certain: false })
      expect(await reconcile(post, delivery, { calledAt: new Date(), wasAnswered: false })).toBe('in-flight')
      expect(await reconcile(post, delivery)).toBe('absent')
      await publish(post, delivery)
      expect(await withText(post.content.text)).toHaveLength(1)
    })

    it('when a call that was given up comes through after all', async () => {
      const as = await world.newAccount()
      const delivery = newDelivery()
      const post = await imagePost('came through')
      await prepare(post, delivery, as)
      await world.control.addFault({ method: 'POST', path: publishPath, times: 1, action: { dropAfterAccept: true } })
      await platformErrorOf(commit(post, delivery, as))
      await prepare(post, delivery, as)
      expect(await platformErrorOf(commit(post, delivery, as))).toMatchObject({ class: 'duplicate', certain: false })
      expect(await requestsTo(publishPath, as)).toBe(1)
      const [entry] = await withText('came through')
      expect(await reconcile(post, delivery, {}, as)).toMatchObject({ platformPostId: entry!.id })
    })

    it('of two alike, each is found as its own', async () => {
      const as = await world.newAccount()
      const posts = [await imagePost('twins'), await imagePost('twins')]
      const deliveries = [newDelivery(), newDelivery()]
      await world.control.addFault({ method: 'POST', path: publishPath, times: 2, action: { dropAfterAccept: true } })
      for (const [index, post] of posts.entries()) {
        await prepare(post, deliveries[index]!, as)
        await platformErrorOf(commit(post, deliveries[index]!, as))
      }
      const first = (await reconcile(posts[0]!, deliveries[0]!, {}, as)) as Published
      const isTaken = async (id: string) => id === first.platformPostId
      const second = (await reconcile(posts[1]!, deliveries[1]!, { isTaken }, as)) as Published
      const ids = [first.platformPostId, second.platformPostId]
      expect(ids.toSorted()).toEqual((await withText('twins')).map(({ id }) => id).toSorted())
    })

    it('is found when the platform tidied up its white space', async () => {
      const as = await world.newAccount()
      const delivery = newDelivery()
      const post = await imagePost(' much   room\r\n\r\nhere ')
      await prepare(post, delivery, as)
      await world.control.addFault({ method: 'POST', path: publishPath, times: 1, action: { dropAfterAccept: true } })
      await platformErrorOf(commit(post, delivery, as))
      const [entry] = (await world.control.ledger()).filter(({ account: author }) => author === as.handle)
      world.store.rewrite(entry!.id, 'much room\n\nhere')
      expect(await reconcile(post, delivery, {}, as)).toMatchObject({ platformPostId: entry!.id })
    })

    it('is not taken for another with other words', async () => {
      const as = await world.newAccount()
      const delivery = newDelivery()
      const post = await imagePost('before')
      await prepare(post, delivery, as)
      await world.control.addFault({ method: 'POST', path: publishPath, times: 1, action: { dropAfterAccept: true } })
      await platformErrorOf(commit(post, delivery, as))
      const [entry] = await withText('before')
      world.store.rewrite(entry!.id, 'after')
      world.store.publishElsewhere(as.accountId, 'something else')
      expect(await reconcile(post, delivery, {}, as)).toBe('undecidable')
    })

    it('cannot be told when the platform does not know the container any more', async () => {
      const as = await world.newAccount()
      const delivery = newDelivery()
      const post = await imagePost('no such container')
      await prepare(post, delivery, as)
      const body = { error: { type: 'GraphMethodException', code: 100, error_subcode: 33, message: 'm' } }
      await world.control.addFault({ path: 'fields=status', times: 1, action: { status: 400, body } })
      expect(await reconcile(post, delivery, {}, as)).toBe('undecidable')
    })

    it('is out of the question where none was prepared', async () => {
      expect(await reconcile(await imagePost('x'), newDelivery())).toBe('absent')
    })
  })

  it('a login that ended is told as such, before and at the call', async () => {
    const as = await world.newAccount()
    const post = await imagePost('too late')
    const delivery = newDelivery()
    await prepare(post, delivery, as)
    await world.control.revoke(as.accountId)
    expect(await platformErrorOf(commit(post, delivery, as))).toMatchObject({ class: 'unauthorized', certain: true })
    expect(await platformErrorOf(prepare(post, newDelivery(), as))).toMatchObject({ class: 'unauthorized' })
  })

  it('a quota that is used up asks to wait, and says so', async () => {
    const tight = await start(stored.media, { quota: 1 })
    try {
      const as = await tight.newAccount()
      const posts = [await imagePost('one'), await imagePost('two')]
      const deliveries = [newDelivery(), newDelivery()]
      for (const [index, post] of posts.entries()) await prepare(post, deliveries[index]!, as, tight)
      await commit(posts[0]!, deliveries[0]!, as, tight)
      const refused = await platformErrorOf(commit(posts[1]!, deliveries[1]!, as, tight))
      expect(refused).toMatchObject({ class: 'rate_limited', certain: true, retryAfterMs: HOUR })
      expect(refused.message).toContain('at most 1 posts')
      expect(await tight.control.ledger()).toHaveLength(1)
    } finally {
      await tight.stop()
    }
  })
}
