import { findDueLane, type Lane } from '../../domain/analytics/collection.ts'
import type { Context } from '../../context.ts'
import type { PublishedPost } from '../../store/analytics/due-metrics.ts'
import { toWantedPosts, type CollectPosts, type PostBatch } from './collect-posts.ts'
import type { DueRecords } from './collector.ts'

/** Posts per claim. A claim costs about as much as a call, so one claim is for several calls for single posts. */
const POSTS_PER_CLAIM = 25

/** Claims published posts whose metrics are due, in batches of one account. */
export function createDuePosts(
  { published, platforms, clock }: Context,
  collectPosts: CollectPosts,
): DueRecords<PostBatch> {
  /** Claims a page of posts, one account after the other. */
  async function* claimPage(lane: Lane, posts: PublishedPost[], lease: () => Date): AsyncGenerator<PostBatch, void> {
    for (const batch of groupByAccount(lane, posts, clock.now())) {
      const { userId, posts: wanted } = batch
      const postIds = wanted.map(({ postId }) => postId)
      const claimed = await published.claim(batch, { userId, postIds, until: lease() }, clock.now())
      const own = wanted.filter(({ postId }) => claimed.has(postId))
      if (own.length > 0) yield { ...batch, posts: own }
    }
  }

  return {
    isSupported: ({ metrics }) => metrics !== undefined,

    findServer: (platform, except) => published.findDueServer(platform, except, clock.now()),

    async *claim(lane, lease) {
      const limit = computeClaimSize(platforms.find(lane.platform)?.metrics?.perCall ?? 1)
      // The start is random, so that collectors rarely meet and a rate limit does not exclude the same owners in every run.
      const start = await published.findRandomOwner()
      let isCut = false
      for (const range of [{ after: start }, { after: '', until: start }]) {
        let { after } = range
        for (let isLast = false; !isLast;) {
          const posts = await published.listDue(lane, { ...range, after }, clock.now(), limit)
          isLast = posts.length < limit
          const last = posts.at(-1)?.userId
          // The last owner may have more posts than fit. They are on the next page. If they fill a whole page, the others come first.
          const others = posts.filter(({ userId }) => isLast || userId !== last)
          if (others.length === 0 && !isLast) isCut = true
          const page = others.length > 0 ? others : posts
          yield* claimPage(lane, page, lease)
          after = page.at(-1)?.userId ?? after
        }
      }
      return isCut
    },

    collect: collectPosts,
  }
}

/** Returns the number of posts in as many whole calls as fit into a claim, and in at least one. */
function computeClaimSize(postsPerCall: number): number {
  return postsPerCall * Math.max(1, Math.floor(POSTS_PER_CLAIM / postsPerCall))
}

function groupByAccount(lane: Lane, posts: PublishedPost[], now: Date): PostBatch[] {
  const batches = new Map<string, PostBatch>()
  for (const post of posts) {
    for (const entry of post.platformStatuses) {
      const due = findDueLane(entry, now)
      if (due?.platform !== lane.platform || due.server !== lane.server) continue
      const { userId } = post
      const { accountId: publishedBy } = entry.delivery
      const name = JSON.stringify([userId, publishedBy])
      const batch = batches.get(name) ?? { ...lane, userId, publishedBy, posts: [] }
      batches.set(name, batch)
      batch.posts.push(...toWantedPosts(post, batch, now))
    }
  }
  return [...batches.values()]
}
