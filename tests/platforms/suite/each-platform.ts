import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, beforeEach, describe } from 'vitest'
import type { FaultAction } from '../../../sandbox/platforms/faults.ts'
import type { LoggedRequest } from '../../../sandbox/platforms/proxied-platform.ts'
import { POSTING_RULES, type PostingRules } from '../../../src/domain/posts/posting-rules.ts'
import type { MediaItem, Published } from '../../../src/domain/posts/post.ts'
import type { Platform } from '../../../src/domain/shared/platforms.ts'
import type { Credentials, DeliveryCheckpoints, OutgoingPost, SearchOptions } from '../../../src/platforms/contract.ts'
import { film } from '../../support/film.ts'
import { PLATFORM_TRAITS, type Calls } from '../../support/platform-traits.ts'
import { picture } from '../shared/containers-support.ts'
import { newDelivery, newPost, searchOptions, storedMedia } from '../shared/support.ts'
import { WORLDS, type PlatformWorld } from './worlds.ts'

export const options = () => ({ signal: AbortSignal.timeout(20_000) })

/**
 * Defines the tests once for every platform, with a world of its own.
 * @param has returns false for platforms without what the tests are about
 */
export function onEveryPlatform(
  defineTests: (subject: Subject) => void,
  has: (rules: PostingRules) => boolean = () => true,
): void {
  const platforms = (Object.keys(WORLDS) as Platform[]).filter((platform) => has(POSTING_RULES[platform]))
  describe.each(platforms)('%s', (platform) => {
    defineTests(createSubject(platform))
  })
}

export type Subject = ReturnType<typeof createSubject>

/** Starts the platform before the tests, and returns what they do with it. */
function createSubject(platform: Platform) {
  let stored: Awaited<ReturnType<typeof storedMedia>>
  let world: PlatformWorld

  beforeAll(async () => {
    stored = await storedMedia()
    world = await WORLDS[platform](stored.media)
  })
  afterAll(async () => {
    await world?.close()
    await world?.stopServer()
    stored?.close()
  })
  beforeEach(() => world.control.clearFaults())

  const rules = POSTING_RULES[platform]
  const { calls, refusals, notFound, edit: editMethod } = PLATFORM_TRAITS[platform]
  const isCall =
    ({ method, path }: Calls) =>
    (request: LoggedRequest) =>
      request.method === method && request.path.includes(path)

  let pictures = 0
  // Each picture is another one: a Bluesky server may answer 500 to a record that refers to the same unpublished blob twice.
  const image = async (altText?: string, type: 'jpeg' | 'png' | 'webp' = 'jpeg') =>
    stored.add(await picture(400, 400 + (pictures++ % 100), { type }), `image/${type}`, altText)

  const prepare = (post: OutgoingPost, account: Credentials, delivery: DeliveryCheckpoints) =>
    world.adapter.prepare(post, account, delivery, options())
  const commit = (post: OutgoingPost, account: Credentials, delivery: DeliveryCheckpoints) =>
    world.adapter.publish(post, account, delivery, options())

  return {
    platform,
    rules,
    calls,
    editMethod,
    refusals,
    notFound,
    world: () => world,
    /** Starts another world of the platform; the test stops it. */
    startAnother: () => WORLDS[platform](stored.media),
    /** The storage keys of the files that the adapter read. */
    opened: () => stored.opened,

    image,
    video: (altText?: string) => stored.add(film(), 'video/mp4', altText),
    add: (bytes: Uint8Array, mimeType: string, altText: string) => stored.add(bytes, mimeType, altText),
    /** A post with a unique text, and with an image where the platform requires one. */
    async post(words: string, mediaItems?: MediaItem[]): Promise<OutgoingPost> {
      return newPost(`${words} ${randomUUID()}`, mediaItems ?? (rules.media.required ? [await image()] : []))
    },

    prepare,
    commit,
    async publish(post: OutgoingPost, account: Credentials, delivery = newDelivery()): Promise<Published> {
      await prepare(post, account, delivery)
      return commit(post, account, delivery)
    },
    reconcile: (
      post: OutgoingPost,
      account: Credentials,
      delivery: DeliveryCheckpoints,
      overrides: Partial<SearchOptions> = {},
    ) => world.adapter.reconcile(post, account, delivery, searchOptions(overrides)),
    /** Makes the next visible call fail. */
    failPublish: (action: FaultAction) => world.control.addFault({ ...calls.publish, times: 1, action }),

    /** The public posts with this post's text. */
    visible: async ({ content }: OutgoingPost) =>
      (await world.control.ledger()).filter(({ text }) => text === content.text),
    /** The public post with this id. */
    shown: async ({ platformPostId }: Published) =>
      (await world.control.ledger()).find(({ id }) => id === platformPostId),
    /** Publishes with another client of the account. */
    async publishElsewhere({ accountId }: Credentials, text: string): Promise<void> {
      await world.control.publishElsewhere(accountId, text)
    },

    isPublish: isCall(calls.publish),
    /** The requests that reached the platform during the work. */
    async requestsDuring(work: () => Promise<unknown>): Promise<LoggedRequest[]> {
      const before = (await world.control.requests()).length
      await work()
      return (await world.control.requests()).slice(before)
    },
  }
}
