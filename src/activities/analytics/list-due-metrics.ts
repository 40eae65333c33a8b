import { log } from '@temporalio/activity'
import type { Clock } from '../../clock.ts'
import { listDueBounds, isDue, toSlot, type DueBounds } from '../../domain/analytics/collection.ts'
import { splitIntoChunks } from '../../domain/shared/lists.ts'
import { PLATFORMS, type Platform } from '../../domain/shared/platforms.ts'
import type { PlatformRegistry } from '../../platforms/registry.ts'
import type { PublishedPost, DueMetricsStore } from '../../store/analytics/due-metrics.ts'
import type { DueAccount, DuePage, DuePlace } from '../../workflows/messages/analytics.ts'

/** Posts per page. A page takes more memory than any other part of a collection. */
const PAGE = 500
/** Posts per batch. An activity costs more than a call, so one activity makes several calls for single posts. */
const BATCH = 25
/** Young and older posts. */
const AGE_CLASSES = 2

interface ListDueMetricsDeps {
  published: DueMetricsStore
  platforms: Pick<PlatformRegistry, 'find'>
  clock: Clock
  /** The interval of the collection runs. */
  intervalMs: number
}

/** Lists the posts whose metrics are due: young posts first, and one owner after the other. */
export function createListDueMetrics({ published, platforms, clock, intervalMs }: ListDueMetricsDeps) {
  /** @param place null at the beginning */
  return async function listDueMetrics(place: DuePlace | null): Promise<DuePage> {
    const at = place ?? (await findFirstPlace())
    const bounds = listDueBounds(listMetricsPlatforms(place === null), clock.now())[at.ageClass]
    if (!bounds) return { accounts: [], slot: 0, next: null }
    const { posts, next } = await listPage(bounds, at)
    return { accounts: groupByAccount(posts, bounds), slot: bounds.dueBy.getTime(), next: findNextPlace(at, next) }
  }

  /** A page of posts and the place of the next page of this age class; null when there is none. */
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
    // The last owner may have more posts than fit. The next page, or pages of that owner alone, list them.
    const last = posts.at(-1)!.userId
    const whole = posts.filter(({ userId }) => userId !== last)
    if (whole.length === 0) return listPage(bounds, { ...place, within: { userId: last, afterPostId: null } })
    return { posts: whole, next: { ...place, afterUserId: whole.at(-1)!.userId } }
  }

  function getYoungestSlot(): number {
    return toSlot(clock.now(), intervalMs).getTime()
  }

  /** Starts at a random owner, so that a rate limit does not exclude the same owners in every run. */
  async function findFirstPlace(): Promise<DuePlace> {
    const startUserId = await published.sampleOwner()
    return startAgeClass(0, { youngestSlot: getYoungestSlot(), startUserId })
  }

  /** Returns to the young posts when the next run would begin, however many older posts are due. */
  function findNextPlace(at: DuePlace, next: DuePlace | null): DuePlace | null {
    const slot = getYoungestSlot()
    const isLast = next === null && at.ageClass + 1 === AGE_CLASSES
    if (at.ageClass > 0 && !isLast && slot > at.youngestSlot) return startAgeClass(0, { ...at, youngestSlot: slot })
    return next ?? (isLast ? null : startAgeClass(at.ageClass + 1, at))
  }

  /** The platforms that report metrics. The first page of a run logs the others. */
  function listMetricsPlatforms(isFirstPage: boolean): Platform[] {
    const supported = PLATFORMS.filter((platform) => platforms.find(platform)?.metrics)
    const unsupported = PLATFORMS.filter((platform) => platforms.find(platform) && !supported.includes(platform))
    if (isFirstPage && unsupported.length > 0) log.info('platforms without metrics skipped', { platforms: unsupported })
    return supported
  }

  function groupByAccount(posts: PublishedPost[], bounds: DueBounds): DueAccount[] {
    const found = new Map<string, Omit<DueAccount, 'batches'> & { postIds: string[] }>()
    for (const { _id, userId, platformStatuses } of posts) {
      for (const entry of platformStatuses.filter((one) => isDue(one, bounds))) {
        const publishedBy = entry.delivery.accountId
        const name = JSON.stringify([userId, entry.platform, publishedBy])
        const account = found.get(name) ?? { userId, platform: entry.platform, publishedBy, postIds: [] }
        account.postIds.push(_id)
        found.set(name, account)
      }
    }
    return [...found.values()].map(({ postIds, ...account }) => ({
      ...account,
      batches: splitIntoChunks(postIds, computeBatchSize(platforms.find(account.platform)?.metrics?.perCall ?? 1)),
    }))
  }
}

/** Returns the number of posts in as many whole calls as fit into a batch, and in at least one. */
function computeBatchSize(postsPerCall: number): number {
  return postsPerCall * Math.max(1, Math.floor(BATCH / postsPerCall))
}

function startAgeClass(
  ageClass: number,
  { youngestSlot, startUserId }: Pick<DuePlace, 'youngestSlot' | 'startUserId'>,
): DuePlace {
  return { ageClass, youngestSlot, startUserId, isRound: false, afterUserId: startUserId, within: null }
}
