import type { Info } from '@temporalio/activity'
import { MockActivityEnvironment } from '@temporalio/testing'
import { createAnalyticsActivities } from '../../../src/activities/analytics/analytics-activities.ts'
import { toSlot } from '../../../src/domain/analytics/collection.ts'
import type { Platform } from '../../../src/domain/shared/platforms.ts'
import type { Post } from '../../../src/domain/posts/post.ts'
import { MINUTE } from '../../../src/domain/shared/times.ts'
import { PlatformError } from '../../../src/platforms/errors.ts'
import type { CollectorTurn } from '../../../src/workflows/contract/analytics.ts'
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

  /** The activities of a worker. */
  const activities = (now = later(0), draining = new AbortController().signal) =>
    createAnalyticsActivities({ ...context, draining, clock: { ...context.clock, now } })

  const environment = (info: Partial<Info> = {}) => new MockActivityEnvironment(info, { logger })
  const run = <A extends unknown[], R>(activity: (...args: A) => Promise<R>, ...args: A): Promise<R> =>
    environment().run(activity, ...args)

  return {
    context,
    platforms,
    lines,
    activities,
    environment,
    run,

    /** Makes the first turn of a collector in a run that starts now. */
    collectRun: (now = later(0)): Promise<CollectorTurn> => run(activities(now).collectDuePosts, now().getTime()),

    /** Does the same for follower counts. */
    collectFollowers: (now = later(0)): Promise<CollectorTurn> =>
      run(activities(now).collectDueFollowers, now().getTime()),

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
