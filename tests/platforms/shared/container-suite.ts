import { expect, afterAll, beforeAll, beforeEach, describe, it } from 'vitest'
import type { ContainerStore } from '../../../sandbox/platforms/shared/graph/container-store.ts'
import type { Published } from '../../../src/domain/posts/post.ts'
import type {
  Credentials,
  DeliveryCheckpoints,
  MediaSource,
  OutgoingPost,
  PlatformAdapter,
} from '../../../src/platforms/contract.ts'
import { options, picture } from './containers-support.ts'
import { film } from '../../support/film.ts'
import { newDelivery, newPost, platformErrorOf, searchOptions, storedMedia, type controlOf } from './support.ts'

const HOUR = 3_600_000

/** A platform with containers: its simulator, and an adapter for it. */
export interface ContainerWorld {
  adapter: PlatformAdapter
  control: ReturnType<typeof controlOf>
  store: Pick<ContainerStore, 'failNext' | 'age' | 'silence' | 'lose' | 'publishElsewhere' | 'rewrite'>
  newAccount(): Promise<Credentials>
  stop(): Promise<void>
}

interface Suite {
  start(
    media: MediaSource,
    times?: { processingMs?: number; processingWaitMs?: number; quota?: number },
  ): Promise<ContainerWorld>
  /** The last path segments for creating and publishing containers. */
  createPath: string
  publishPath: string
  /** A permanent failure in a container's status. */
  permanentProblem: string
  /** The platform's error for a container that is not ready. */
  notReady: object
}

type Stored = Awaited<ReturnType<typeof storedMedia>>

/** Tests that apply to every platform with containers. */
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
    it('a carousel holds images and videos in order', async () => {
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

    it('a ready container is not checked again before the scheduled time, unless it was called for', async () => {
      const as = await world.newAccount()
      const post = newPost('seen ready', [await image()])
      const delivery = newDelivery()
      await prepare(post, delivery, as)
      const countStatusReads = async () =>
        (await world.control.requests()).filter(({ path }) => path.includes(`/${containerOf(delivery)}?`)).length
      const before = await countStatusReads()
      await prepare(post, delivery, as)
      expect(await countStatusReads()).toBe(before)
      await world.control.addFault({ method: 'POST', path: publishPath, times: 1, action: { cut: true } })
      await platformErrorOf(commit(post, delivery, as))
      await prepare(post, delivery, as)
      expect(await countStatusReads()).toBe(before + 1)
    })

    it('an interrupted preparation continues', async () => {
      const as = await world.newAccount()
      const post = newPost('broken off', [await image(), await image()])
      const delivery = newDelivery()
      await world.control.addFault({ method: 'GET', path: 'fields=status', times: 1, action: { status: 503 } })
      expect(await platformErrorOf(prepare(post, delivery, as))).toMatchObject({ class: 'transient' })
      await prepare(post, delivery, as)
      expect(await requestsTo(createPath, as)).toBe(3)
    })

    it('a text that is too long is refused before anything is created', async () => {
      const as = await world.newAccount()
      const post = newPost('a'.repeat(2_201), [await image()])
      expect(await platformErrorOf(publish(post, newDelivery(), as))).toMatchObject({
        class: 'validation',
        certain: true,
      })
      expect(await requestsTo(createPath, as)).toBe(0)
    })

    it('a post stays published when its URL cannot be read', async () => {
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
    it('images are fetched unchanged when the platform accepts them', async () => {
      const item = await image()
      await publish(newPost('as it is', [item]))
      expect(stored.copies.filter((address) => address.includes(item.storageKey))).toEqual([])
    })

    it.each([
      ['of a type that it does not take', () => picture(400, 400, { type: 'webp' }), 'image/webp'],
      ['that are too wide', () => picture(2_400, 100), 'image/jpeg'],
      ['that are too high', () => picture(40, 900), 'image/jpeg'],
      ['that are too small', () => picture(16, 16), 'image/jpeg'],
      ['that are transparent', () => picture(400, 400, { type: 'webp', alpha: 0.2 }), 'image/webp'],
    ])('%s are converted', async (name, bytes, type) => {
      const text = `converted: ${name}`
      const before = stored.copies.length
      await publish(newPost(text, [await stored.add(await bytes(), type)]))
      expect(stored.copies).toHaveLength(before + 1)
      expect(await withText(text)).toHaveLength(1)
    })
  })

  describe('a container', () => {
    it.each([
      ['ended', 25 * HOUR],
      ['is about to end', 21 * HOUR],
    ])('a container that %s is created again with its children', async (name, age) => {
      const as = await world.newAccount()
      const post = newPost(`aged: ${name}`, [await image(), await image()])
      const delivery = newDelivery()
      await prepare(post, delivery, as)
      const first = containerOf(delivery)
      world.store.age(first, age)
      const container = JSON.parse(delivery.get('container')!) as { createdAt: number }
      await delivery.save('container', JSON.stringify({ ...container, createdAt: container.createdAt - age }))
      await publish(post, delivery, as)
      expect(containerOf(delivery)).not.toBe(first)
      expect(await requestsTo(createPath, as)).toBe(6)
      expect(await withText(post.content.text)).toHaveLength(1)
    })

    it('an unfinished container of a carousel is created again before it expires', async () => {
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

    it('a container whose processing failed is created again', async () => {
      const post = await imagePost('failed at first')
      const delivery = newDelivery()
      world.store.failNext('UNKNOWN')
      const failed = await platformErrorOf(prepare(post, delivery))
      expect(failed).toMatchObject({ class: 'media_fetch_failed', retryAfterMs: 30_000 })
      await publish(post, delivery)
      expect(await withText(post.content.text)).toHaveLength(1)
    })

    it('a container whose processing failed permanently is refused', async () => {
      world.store.failNext(permanentProblem)
      expect(await platformErrorOf(prepare(await imagePost('x'), newDelivery()))).toMatchObject({ class: 'validation' })
    })

    it("the platform's explanation of a failed container is in the error", async () => {
      for (const problem of ['UNKNOWN', permanentProblem]) {
        world.store.failNext(problem)
        const { platformReason } = await platformErrorOf(prepare(await imagePost('explained'), newDelivery()))
        expect(platformReason!.text).toContain(problem)
      }
    })

    it('a container without a status is awaited, and neither fails nor is created again', async () => {
      const patient = await start(stored.media, { processingWaitMs: 700 })
      try {
        const as = await patient.newAccount()
        const [post, delivery] = [await imagePost('silent'), newDelivery()]
        await prepare(post, delivery, as, patient)
        const made = containerOf(delivery)
        // A call makes the next preparation check the container.
        await patient.control.addFault({ method: 'POST', path: publishPath, times: 1, action: { cut: true } })
        await platformErrorOf(commit(post, delivery, as, patient))
        patient.store.silence(made)
        expect(await platformErrorOf(prepare(post, delivery, as, patient))).toMatchObject({ class: 'media_not_ready' })
        const search = () => patient.adapter.reconcile(post, as, delivery, searchOptions())
        expect(await search()).toBe('in-flight')
        patient.store.silence(made, false)
        expect(await search()).toBe('absent')
        await prepare(post, delivery, as, patient)
        await commit(post, delivery, as, patient)
        expect(containerOf(delivery)).toBe(made)
      } finally {
        await patient.stop()
      }
    })

    it('a container that the platform has lost is created again', async () => {
      const as = await world.newAccount()
      const [post, delivery] = [await imagePost('lost'), newDelivery()]
      await prepare(post, delivery, as)
      const lost = containerOf(delivery)
      world.store.lose(lost)
      expect(await platformErrorOf(commit(post, delivery, as))).toMatchObject({
        class: 'media_not_ready',
        certain: true,
      })
      await publish(post, delivery, as)
      expect(containerOf(delivery)).not.toBe(lost)
      expect(await withText('lost')).toHaveLength(1)
    })

    it('a carousel whose item the platform has lost is created again', async () => {
      const as = await world.newAccount()
      const [post, delivery] = [newPost('lost item', [await image(), await image()]), newDelivery()]
      await prepare(post, delivery, as)
      const item = JSON.parse(delivery.get('container.1')!) as { id: string }
      world.store.lose(item.id)
      await delivery.save('container', '')
      expect(await platformErrorOf(prepare(post, delivery, as))).toMatchObject({ class: 'transient', certain: true })
      await publish(post, delivery, as)
      expect(await withText('lost item')).toHaveLength(1)
    })

    it.each([false, true])(
      'a container that is called missing at the visible call is replaced unless it is published: %s',
      async (isPublished) => {
        const as = await world.newAccount()
        const [post, delivery] = [await imagePost(`missing, published: ${isPublished}`), newDelivery()]
        await prepare(post, delivery, as)
        const made = containerOf(delivery)
        const body = { error: { type: 'GraphMethodException', code: 100, error_subcode: 33, message: 'm' } }
        const action = isPublished ? { statusAfterAccept: 400, body } : { status: 400, body }
        await world.control.addFault({ method: 'POST', path: publishPath, times: 1, action })
        expect(await platformErrorOf(commit(post, delivery, as))).toMatchObject({
          class: 'media_not_ready',
          certain: !isPublished,
        })
        if (isPublished) {
          const [entry] = await withText(post.content.text)
          expect(await reconcile(post, delivery, {}, as)).toMatchObject({ platformPostId: entry!.id })
        } else {
          await publish(post, delivery, as)
          expect(containerOf(delivery)).not.toBe(made)
        }
        expect(await withText(post.content.text)).toHaveLength(1)
      },
    )

    it('a slow container is polled again and not created again', async () => {
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
            { timeout: 50_000 },
          )
          .toBe(true)
        await commit(post, delivery, as, slow)
        expect(containerOf(delivery)).toBe(made)
        expect(await slow.control.ledger()).toHaveLength(1)
      } finally {
        await slow.stop()
      }
    })

    it('a container that the platform calls not ready is retried', async () => {
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

  describe('exactly one post', () => {
    it('a call whose response is missing may take effect until its deadline has passed', async () => {
      const delivery = newDelivery()
      const post = await imagePost('in flight')
      await prepare(post, delivery)
      await world.control.addFault({ method: 'POST', path: publishPath, times: 1, action: { hang: true } })
      await platformErrorOf(commit(post, delivery))
      expect(await reconcile(post, delivery, { calledAt: new Date(), wasAnswered: false })).toBe('in-flight')
      expect(await reconcile(post, delivery)).toBe('absent')
    })

    it('a container that was published after all is not published again', async () => {
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

    it('a post is found after the platform changed its white space', async () => {
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

    it('a post with other text is not taken', async () => {
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

    it('the outcome is undecidable when the platform no longer has the container', async () => {
      const as = await world.newAccount()
      const delivery = newDelivery()
      const post = await imagePost('no such container')
      await prepare(post, delivery, as)
      const body = { error: { type: 'GraphMethodException', code: 100, error_subcode: 33, message: 'm' } }
      await world.control.addFault({ path: 'fields=status', times: 1, action: { status: 400, body } })
      expect(await reconcile(post, delivery, {}, as)).toBe('undecidable')
    })

    it('the outcome is absent when no container was prepared', async () => {
      expect(await reconcile(await imagePost('x'), newDelivery())).toBe('absent')
    })
  })

  it('an exhausted quota is reported with a wait', async () => {
    const tight = await start(stored.media, { quota: 1 })
    try {
      const as = await tight.newAccount()
      const posts = [await imagePost('one'), await imagePost('two')]
      const deliveries = [newDelivery(), newDelivery()]
      for (const [index, post] of posts.entries()) await prepare(post, deliveries[index]!, as, tight)
      await commit(posts[0]!, deliveries[0]!, as, tight)
      const refused = await platformErrorOf(commit(posts[1]!, deliveries[1]!, as, tight))
      expect(refused).toMatchObject({ class: 'rate_limited', certain: true, retryAfterMs: HOUR })
      expect(refused.message).toContain('accepts one post of an account in 24 hours')
      expect(await tight.control.ledger()).toHaveLength(1)
    } finally {
      await tight.stop()
    }
  })
}
