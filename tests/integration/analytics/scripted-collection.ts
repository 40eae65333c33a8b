import { MockActivityEnvironment } from '@temporalio/testing'
import { createAnalyticsActivities } from '../../../src/activities/analytics/analytics-activities.ts'
import type { Context } from '../../../src/context.ts'
import { toSlot } from '../../../src/domain/analytics/collection.ts'
import type { Platform } from '../../../src/domain/shared/platforms.ts'
import type { Post } from '../../../src/domain/posts/post.ts'
import { MINUTE } from '../../../src/domain/shared/times.ts'
import { PlatformError } from '../../../src/platforms/errors.ts'
import {
  startAgeClass,
  type CollectedFollowers,
  type DueBatch,
  type DuePage,
  type DuePlace,
  type FollowersPage,
  type Pauses,
} from '../../../src/workflows/contract/analytics.ts'
import { connectedUser, publishedPost, storePosts } from '../../support/published.ts'
import { testContext } from '../../support/servers.ts'
import { createScriptedPlatforms } from '../../support/scripted-platforms.ts'

const ON: Platform[] = ['bluesky', 'mastodon', 'threads']
/** The offset of the tests' clocks, which start at the beginning of a slot. */
const AHEAD_MS = toSlot(new Date(), 15 * MINUTE).getTime() + 16 * MINUTE - Date.now()
export const later = (ms: number) => () => new Date(Date.now() + AHEAD_MS + ms)

interface Line {
  level: string
  message: string
  attributes: unknown
}

export interface FollowersRound {
  now?: () => Date
  pauses?: Pauses
  /** The servers of a later round. */
  servers?: string[]
}

const NO_FOLLOWERS: CollectedFollowers = { taken: 0, skipped: 0, failed: 0, paused: 0 }

/** Creates the collection activities with a separate database and scripted platforms. */
export async function startScriptedCollection() {
  const platforms = createScriptedPlatforms(
    { bluesky: 25, mastodon: 20, threads: 1, tumblr: 0 },
    { mastodon: async (account) => ({ ...account, accessToken: 'renewed token' }) },
  )
  const context = await testContext({ ANALYTICS_AGES: '1:15,7:60,30:360' }, { platforms: platforms.registry })
  const lines: Line[] = []
  const note = (level: string) => (message: string, attributes?: unknown) =>
    void lines.push({ level, message, attributes })
  const logger = {
    log: (level: string, message: string) => note(level)(message),
    ...({
      trace: note('trace'),
      debug: note('debug'),
      info: note('info'),
      warn: note('warn'),
      error: note('error'),
    } as const),
  }

  const activities = (now = later(0), published: Partial<Context['published']> = {}) =>
    createAnalyticsActivities({
      ...context,
      clock: { ...context.clock, now },
      published: { ...context.published, ...published },
    })

  const environment = () => new MockActivityEnvironment(undefined, { logger })
  const run = <A extends unknown[], R>(activity: (...args: A) => Promise<R>, ...args: A): Promise<R> =>
    environment().run(activity, ...args)

  /** Returns all pages of a shard. */
  async function listShard(place: DuePlace, now?: () => Date): Promise<DuePage[]> {
    const { listDueMetrics } = activities(now)
    const pages = [await run(listDueMetrics, place)]
    for (let page = pages[0]!; page.next; pages.push(page)) page = await run(listDueMetrics, page.next)
    return pages
  }

  /** Returns all pages of a run and the batches that its workflow would start. */
  async function listRun(now?: () => Date): Promise<{ pages: DuePage[]; batches: DueBatch[] }> {
    const { planCollection } = activities(now)
    const { shards } = await run(planCollection)
    const pages = (await Promise.all(shards.map((shard) => listShard(startAgeClass(0, shard), now)))).flat()
    const batches = pages.flatMap(({ accounts, slot }) =>
      accounts.flatMap(({ batches: some, ...account }) => some.map((postIds) => ({ ...account, postIds, slot }))),
    )
    return { pages, batches }
  }

  return {
    context,
    platforms,
    lines,
    activities,
    environment,
    run,
    listShard,
    listRun,

    /** Collects all due posts like the workflow, in sequence. */
    async collectRun(now?: () => Date) {
      const { batches } = await listRun(now)
      const results = []
      for (const batch of batches) results.push({ ...batch, ...(await run(activities(now).collectBatch, batch)) })
      return results
    },

    /** Runs a round of each shard of follower counts, one after the other, and returns their totals. */
    async collectFollowers({ now, pauses: before = {}, servers }: FollowersRound = {}) {
      const { planFollowers, collectFollowersPage } = activities(now)
      const totals = { ...NO_FOLLOWERS, pauses: {} as Pauses }
      for (const { platform, range } of (await run(planFollowers)).shards) {
        let pauses = before
        for (let after: string | null = null, isFirst = true; isFirst || after !== null; isFirst = false) {
          const page: FollowersPage = await run(collectFollowersPage, {
            ...{ platform, range, after, pauses },
            ...(servers && { servers }),
          })
          for (const name of Object.keys(NO_FOLLOWERS) as (keyof CollectedFollowers)[]) totals[name] += page[name]
          pauses = page.pauses
          after = page.next
        }
        Object.assign(totals.pauses, pauses)
      }
      return totals
    },

    async published(on: Platform[], count = 1, completedAt = new Date()) {
      const { _id: userId } = await connectedUser(context, on)
      const posts = Array.from({ length: count }, () => publishedPost({ userId, on, completedAt }))
      await storePosts(context, posts)
      return { userId, posts, post: posts[0]! }
    },

    snapshotsOf: (postId: string) =>
      context.database.connection.collection('postSnapshots').find({ postId }).sort({ slot: 1 }).toArray(),
    lettersOf: (userId: string) => Array.fromAsync(context.deadLetters.allOf(userId)),
    stored: async ({ _id }: Post) => (await context.posts.find(_id))!,
    entry: async ({ _id }: Post, platform: Platform) =>
      (await context.posts.find(_id))!.platformStatuses.find((one) => one.platform === platform)!,
    versionOf: async (userId: string) => (await context.users.findById(userId))?.analyticsVersion ?? 0,

    /** Resets everything except users and snapshots. */
    async clear(): Promise<void> {
      await context.database.connection.collection('posts').deleteMany({})
      for (const records of [platforms.calls, platforms.followerCalls, lines]) records.length = 0
      for (const platform of ON) {
        const script = platforms.scriptFor(platform)
        Object.assign(script, { counts: new Map(), default: { likes: 1 }, followers: 100, failures: [] })
        script.followerFailures = []
        script.followersOf.clear()
        delete script.meanwhile
        delete script.followersMeanwhile
      }
    },
  }
}

export const idOn = (post: Post, platform: Platform) =>
  post.platformStatuses.find((one) => one.platform === platform)!.platformPostId!

export const failure = (name: PlatformError['class'], retryAfterMs?: number) =>
  new PlatformError(name, `It was ${name}`, { certain: true, ...(retryAfterMs && { retryAfterMs }) })
