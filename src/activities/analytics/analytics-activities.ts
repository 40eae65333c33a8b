import { cancellationSignal, log } from '@temporalio/activity'
import {
  listDueBounds,
  isDue,
  toSlot,
  resolveSlot,
  type AgeClass,
  type DueBounds,
} from '../../domain/analytics/collection.ts'
import { splitIntoChunks } from '../../domain/shared/lists.ts'
import { PLATFORMS, type Platform } from '../../domain/shared/platforms.ts'
import type { AccountCredentials } from '../../commands/accounts/account-credentials.ts'
import type { DeadLetterStore } from '../../store/analytics/dead-letters.ts'
import type { PlatformAccountStore } from '../../store/accounts/platform-accounts.ts'
import type { PublishedPost } from '../../store/analytics/due-metrics.ts'
import {
  parseConnectionId,
  type CollectedBatch,
  type DueAccount,
  type DueBatch,
  type DuePage,
  type DuePlace,
  type FollowersPage,
  type Pauses,
} from '../../workflows/messages.ts'
import { createAccountCalls } from './account-calls.ts'
import { keepAlive, waiting } from '../shared/heartbeat.ts'
import { createBulkheads } from '../shared/call-limiter.ts'
import { createCollectFollowers, type CollectFollowersDeps } from './collect-followers.ts'
import { createCollectPosts, type CollectPostsDeps } from './collect-posts.ts'

/** Posts that are listed at a time: nothing of the collection is larger in memory. */
const PAGE = 500
const OWNERS = 50
const AT_ONCE = 5
/** An activity costs more than a call, so that where a call tells of one post it makes some calls one after the other. */
const BATCH = 25

/** How the collection goes about its work. */
export interface CollectionSettings {
  ages: AgeClass[]
  retentionMs: number
  deletionGraceMs: number
  callsInFlight: number
  timeoutMs: number
}

export interface AnalyticsDeps
  extends
    Omit<CollectPostsDeps, 'callAccount' | 'followers' | 'collection'>,
    Omit<CollectFollowersDeps, 'callAccount' | 'accounts' | 'deadLetters'> {
  accounts: Pick<PlatformAccountStore, 'findConnected' | 'listAll'>
  credentials: AccountCredentials
  deadLetters: Pick<DeadLetterStore, 'add' | 'find' | 'remove'>
  collection: CollectionSettings
}

/** The line of deliveries has figures of its own, which calls for metrics stay out of. */
const UNCOUNTED = { sendWaited: () => {}, sendCrowdedOut: () => {} }

/** May be killed anywhere and repeated: what has a snapshot of its slot is not asked for again. */
export function createAnalyticsActivities(deps: AnalyticsDeps) {
  const { accounts, clock, collection, deadLetters, platforms, published } = deps
  const { ages, callsInFlight, timeoutMs } = collection
  // Not those of the deliveries: however many metrics are due, no post waits for them.
  const callAccount = createAccountCalls({ ...deps, timeoutMs, bulkheads: createBulkheads(callsInFlight, UNCOUNTED) })
  const followers = createCollectFollowers({ ...deps, callAccount })
  const collectPosts = createCollectPosts({ ...deps, callAccount, followers })

  /** A page of posts, and where the next one begins in this age class; null when there is none. */
  async function listPage(
    bounds: DueBounds,
    place: DuePlace,
  ): Promise<{ posts: PublishedPost[]; next: DuePlace | null }> {
    const { within, afterUserId, startUserId, isRound } = place
    if (within) {
      const { userId, afterPostId } = within
      const posts = await published.listDueOf(userId, bounds, { postId: afterPostId, limit: PAGE })
      const isLast = posts.length < PAGE
      const next = isLast
        ? { afterUserId: userId, within: null }
        : { within: { userId, afterPostId: posts.at(-1)!._id } }
      return { posts, next: { ...place, ...next } }
    }
    const untilUserId = isRound ? startUserId : null
    const posts = await published.listDue(bounds, { userId: afterUserId, untilUserId, limit: PAGE })
    if (posts.length < PAGE) {
      if (isRound || startUserId === null) return { posts, next: null }
      const rest = { ...place, isRound: true, afterUserId: null }
      return posts.length === 0 ? listPage(bounds, rest) : { posts, next: rest }
    }
    // The last owner may have more than fit: they come with the next page, or in pages of their own.
    const last = posts.at(-1)!.userId
    const whole = posts.filter(({ userId }) => userId !== last)
    if (whole.length === 0) return listPage(bounds, { ...place, within: { userId: last, afterPostId: null } })
    return { posts: whole, next: { ...place, afterUserId: whole.at(-1)!.userId } }
  }

  const youngestSlot = () => toSlot(clock.now(), ages[0]!.everyMs).getTime()

  /** By chance: what a platform has room for in a run is not always the same owners'. */
  async function firstPlace(): Promise<DuePlace> {
    const startUserId = await published.anyOwner()
    return beginningOf(0, { youngestSlot: youngestSlot(), startUserId })
  }

  /** However much is due of the older posts, the youngest go first when their next slot begins. */
  function placeAfter(at: DuePlace, next: DuePlace | null): DuePlace | null {
    const slot = youngestSlot()
    const isLast = next === null && at.ageClass + 1 === ages.length
    if (at.ageClass > 0 && !isLast && slot > at.youngestSlot) return beginningOf(0, { ...at, youngestSlot: slot })
    return next ?? (isLast ? null : beginningOf(at.ageClass + 1, at))
  }

  /** Those that tell; of the others a line in the log says so, once a run. */
  function tellingPlatforms(isFirstPage: boolean): Platform[] {
    const telling = PLATFORMS.filter((platform) => platforms.find(platform)?.metrics)
    const silent = PLATFORMS.filter((platform) => platforms.find(platform) && !telling.includes(platform))
    if (isFirstPage && silent.length > 0) log.info('Platforms without metrics are left out', { platforms: silent })
    return telling
  }

  function accountsOf(posts: PublishedPost[], bounds: DueBounds): DueAccount[] {
    const found = new Map<string, { userId: string; platform: Platform; postIds: string[] }>()
    for (const { _id, userId, platformStatuses } of posts) {
      for (const entry of platformStatuses.filter((one) => isDue(one, bounds))) {
        const name = `${userId}/${entry.platform}`
        const account = found.get(name) ?? { userId, platform: entry.platform, postIds: [] }
        account.postIds.push(_id)
        found.set(name, account)
      }
    }
    return [...found.values()].map(({ userId, platform, postIds }) => ({
      userId,
      platform,
      batches: splitIntoChunks(postIds, postsABatch(platforms.find(platform)?.metrics?.perCall ?? 1)),
    }))
  }

  /** Asked for by somebody, whether or not it is due. Null when it is not published there (any more). */
  async function collectNow(postId: string, platform: Platform): Promise<CollectedBatch | null> {
    const [post] = await published.find([postId])
    const entry = post?.platformStatuses.find((one) => one.platform === platform)
    if (!post || entry?.status !== 'completed' || !entry.completedAt) return null
    const { completedAt, metricsSlot } = entry
    const slot = resolveSlot(ages, { completedAt, ...(metricsSlot && { metricsSlot }) }, clock.now()).getTime()
    return collectPosts({ userId: post.userId, platform, postIds: [postId], slot }, cancellationSignal(), true)
  }

  return {
    /** @param place null to begin with */
    listDueMetrics: (place: DuePlace | null): Promise<DuePage> =>
      alive(async () => {
        const at = place ?? (await firstPlace())
        const bounds = listDueBounds(ages, tellingPlatforms(place === null), clock.now())[at.ageClass]
        if (!bounds) return { accounts: [], slot: 0, next: null }
        const { posts, next } = await listPage(bounds, at)
        return { accounts: accountsOf(posts, bounds), slot: bounds.slot.getTime(), next: placeAfter(at, next) }
      }),

    collectBatch: (batch: DueBatch): Promise<CollectedBatch> => alive(() => collectPosts(batch, cancellationSignal())),

    /** Whether there is a new snapshot. */
    refreshPostMetrics: (postId: string, platform: Platform): Promise<boolean> =>
      alive(async () => (await collectNow(postId, platform))?.saved === 1),

    /** One page of the accounts on these platforms; `after` names the last user of the page before. */
    collectFollowersPage: (
      after: string | null,
      pauses: Pauses,
      on: readonly Platform[] = PLATFORMS,
    ): Promise<FollowersPage> =>
      alive(async () => {
        const owners = await accounts.listAll(after, OWNERS)
        const asked = owners.flatMap((owner) =>
          followers.tellsOf(owner, on).map((platform) => ({ userId: owner.userId, platform })),
        )
        const done: FollowersPage = { next: null, pauses: { ...pauses }, taken: 0, skipped: 0, failed: 0, paused: 0 }
        for (const some of splitIntoChunks(asked, AT_ONCE)) {
          await Promise.all(
            some.map(async ({ userId, platform }) => {
              const now = clock.now().getTime()
              if ((done.pauses[platform] ?? 0) > now) return void (done.paused += 1)
              const result = await followers.collect(userId, platform, cancellationSignal())
              if (result.kind === 'paused') {
                done.pauses[platform] = Math.max(done.pauses[platform] ?? 0, now + result.waitMs)
              }
              done[result.kind] += 1
            }),
          )
        }
        return { ...done, next: owners.length < OWNERS ? null : owners.at(-1)!.userId }
      }),

    /**
     * Takes the follower count of a new connection, unless it has one of today.
     * @throws waiting while the platform has to be left alone
     */
    collectFollowers: (connectionId: string): Promise<'taken' | 'skipped' | 'failed'> =>
      alive(async () => {
        const { userId, platform } = parseConnectionId(connectionId)
        const result = await followers.collect(userId, platform, cancellationSignal())
        if (result.kind === 'paused') throw waiting('The platform has to be left alone', result.waitMs || undefined)
        return result.kind
      }),

    /** Takes up again what failed; the letter goes when nothing of it is left to do. */
    replayDeadLetter: (letterId: string): Promise<'done' | 'failed' | 'gone'> =>
      alive(async () => {
        const letter = await deadLetters.find(letterId)
        if (!letter) return 'gone'
        const { userId, platform, postId } = letter
        const isDone = postId === null ? await replayAccount(userId, platform) : await replayPost(postId, platform)
        if (isDone) await deadLetters.remove(letterId)
        return isDone ? 'done' : 'failed'
      }),
  }

  async function replayPost(postId: string, platform: Platform): Promise<boolean> {
    const result = await collectNow(postId, platform)
    return result === null || result.saved + result.deleted === 1
  }

  async function replayAccount(userId: string, platform: Platform): Promise<boolean> {
    if (!(await accounts.findConnected(userId, platform))) return true
    return (await followers.collect(userId, platform, cancellationSignal(), true)).kind === 'taken'
  }
}

/** As many whole calls as fit, one at least. */
function postsABatch(perCall: number): number {
  return perCall * Math.max(1, Math.floor(BATCH / perCall))
}

function beginningOf(
  ageClass: number,
  { youngestSlot, startUserId }: Pick<DuePlace, 'youngestSlot' | 'startUserId'>,
): DuePlace {
  return { ageClass, youngestSlot, startUserId, isRound: false, afterUserId: startUserId, within: null }
}

/** While it runs, Temporal hears of it, so that a killed worker's work is given to another soon. */
async function alive<T>(work: () => Promise<T>): Promise<T> {
  const beat = keepAlive(null)
  try {
    return await work()
  } finally {
    beat.stop()
  }
}
