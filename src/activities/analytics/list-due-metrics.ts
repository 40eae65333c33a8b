import type { Clock } from '../../clock.ts'
import { isDue, listDueBounds, type DueBounds } from '../../domain/analytics/collection.ts'
import { splitIntoChunks } from '../../domain/shared/lists.ts'
import type { PlatformRegistry } from '../../platforms/registry.ts'
import type { PublishedPost, DueMetricsStore } from '../../store/analytics/due-metrics.ts'
import { startAgeClass, type DueAccount, type DuePage, type DuePlace } from '../../workflows/contract/analytics.ts'

/** Posts per page, and of one owner per listing. A page takes more memory than any other part of a collection. */
const PAGE = 500
/** Posts per batch. An activity costs more than a call, so one activity makes several calls for single posts. */
const BATCH = 25
/** Young and older posts. */
const AGE_CLASSES = 2

interface ListDueMetricsDeps {
  published: DueMetricsStore
  platforms: PlatformRegistry
  clock: Clock
}

/** Lists the posts whose metrics are due: young posts first, and one owner after the other. */
export function createListDueMetrics({ published, platforms, clock }: ListDueMetricsDeps) {
  return async function listDueMetrics(place: DuePlace): Promise<DuePage> {
    const supported = platforms.find(place.platform)?.metrics ? [place.platform] : []
    const bounds = listDueBounds(supported, clock.now())[place.ageClass]
    if (!bounds) return { accounts: [], slot: 0, next: null }
    const { posts, next, isCut } = await listPage(bounds, place)
    const accounts = groupByAccount(posts, bounds)
    const slot = bounds.dueBy.getTime()
    return { accounts, slot, next: next ?? startNextClass(place), ...(isCut && { isCut }) }
  }

  /** A page of posts and the place of the next page of this age class; null when there is none. */
  async function listPage(
    bounds: DueBounds,
    place: DuePlace,
  ): Promise<{ posts: PublishedPost[]; next: DuePlace | null; isCut?: true }> {
    const { afterUserId, startUserId, hasWrapped, range } = place
    const untilUserId = hasWrapped ? startUserId : range.untilUserId
    const posts = await published.listDue(bounds, { userId: afterUserId, untilUserId, limit: PAGE })
    if (posts.length < PAGE) {
      if (hasWrapped || startUserId === null) return { posts, next: null }
      const rest = { ...place, hasWrapped: true, afterUserId: range.afterUserId }
      return posts.length === 0 ? listPage(bounds, rest) : { posts, next: rest }
    }
    // The last owner may have more posts than fit. They are on the next page. If they fill a whole page, the others come first: an owner
    // with many posts delays them by one page at most.
    const last = posts.at(-1)!.userId
    const others = posts.filter(({ userId }) => userId !== last)
    if (others.length === 0) return { posts, next: { ...place, afterUserId: last }, isCut: true }
    return { posts: others, next: { ...place, afterUserId: others.at(-1)!.userId } }
  }

  function groupByAccount(posts: PublishedPost[], bounds: DueBounds): DueAccount[] {
    const found = new Map<string, Omit<DueAccount, 'batches'> & { postIds: string[] }>()
    for (const { _id, userId, platformStatuses } of posts) {
      for (const entry of platformStatuses.filter((one) => isDue(one, bounds))) {
        const { platform } = entry
        const publishedBy = entry.delivery.accountId
        const name = JSON.stringify([userId, platform, publishedBy])
        const server = findServer(entry)
        const account = found.get(name) ?? { userId, platform, publishedBy, ...(server && { server }), postIds: [] }
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

/** Returns the server of the account that published a post. The ids of accounts on servers that users name end in `@<host>`. */
function findServer({ server, delivery }: PublishedPost['platformStatuses'][number]): string | undefined {
  return delivery.accountId?.split('@')[1] ?? server
}

function startNextClass(at: DuePlace): DuePlace | null {
  return at.ageClass + 1 < AGE_CLASSES ? startAgeClass(at.ageClass + 1, at) : null
}
