import { log } from '@temporalio/activity'
import type { Clock } from '../../clock.ts'
import { deriveMetrics, type PostCounts } from '../../domain/analytics/analytics.ts'
import { listDueBounds, canBeDeleted, type AgeClass } from '../../domain/analytics/collection.ts'
import { markDeleted } from '../../domain/posts/delivery-moves.ts'
import { splitIntoChunks } from '../../domain/shared/lists.ts'
import type { Platform } from '../../domain/shared/platforms.ts'
import type { Metrics } from '../../telemetry/metrics.ts'
import type { PlatformRegistry } from '../../platforms/registry.ts'
import type { Database } from '../../store/shared/database.ts'
import type { DeadLetterStore } from '../../store/analytics/dead-letters.ts'
import type { PostStore } from '../../store/posts/posts.ts'
import type { PublishedPost, PublishedPostStore } from '../../store/analytics/due-metrics.ts'
import type { UserStore } from '../../store/users/users.ts'
import type { CollectedBatch, DueBatch } from '../../workflows/messages.ts'
import type { AccountCalls } from './account-calls.ts'
import type { CollectFollowers } from './collect-followers.ts'
import { troubleOf } from './collection-trouble.ts'
import { isGone } from '../publishing/record-outcome.ts'
import type { SaveSnapshots } from '../../store/analytics/snapshot-writer.ts'

export interface CollectPostsDeps {
  database: Pick<Database, 'transaction'>
  published: PublishedPostStore
  posts: Pick<PostStore, 'transition'>
  users: Pick<UserStore, 'findById'>
  platforms: Pick<PlatformRegistry, 'find'>
  deadLetters: Pick<DeadLetterStore, 'add'>
  clock: Clock
  metrics: Pick<Metrics, 'metricsCollected'>
  collection: { ages: AgeClass[]; deletionGraceMs: number }
  callAccount: AccountCalls
  followers: Pick<CollectFollowers, 'known'>
  saveSnapshots: SaveSnapshots
}

/** An entry whose metrics are asked for. */
interface Wanted {
  postId: string
  platformPostId: string
  completedAt: Date
  /** The account it was published on. */
  accountId: string | null
}

const NOTHING: CollectedBatch = { saved: 0, deleted: 0, skipped: 0, failed: 0, end: 'done' }

/** The metrics of some posts of one account, in as few calls as its platform allows. */
export function createCollectPosts(deps: CollectPostsDeps) {
  const { published, users, platforms, clock, collection, callAccount, followers, saveSnapshots } = deps

  /** What the call answers; a post that went out on another account is not this one's to ask for. */
  async function read(userId: string, platform: Platform, wanted: Wanted[], signal: AbortSignal) {
    return callAccount(
      userId,
      platform,
      async (adapter, account, options) => {
        const own = wanted.filter(({ accountId }) => accountId === account.accountId)
        if (own.length === 0 || !adapter.metrics) return new Map<string, PostCounts | 'deleted'>()
        const ids = own.map(({ platformPostId }) => platformPostId)
        return adapter.metrics.read(ids, account, options)
      },
      signal,
    )
  }

  async function remove(postId: string, platform: Platform): Promise<void> {
    try {
      await deps.posts.transition(postId, markDeleted(platform))
    } catch (error) {
      if (!isGone(error)) throw error
    }
  }

  /** `isAsked`: also what has a snapshot of this slot already. */
  async function collect(batch: DueBatch, isAsked: boolean, signal: AbortSignal): Promise<CollectedBatch> {
    const { userId, platform, postIds } = batch
    const slot = new Date(batch.slot)
    const found = await published.find(postIds)
    const wanted = found.flatMap((post) => wantedOf(post, userId, platform, isAsked ? null : slot))
    if (wanted.length === 0) return NOTHING
    const ids = wanted.map(({ postId }) => postId)
    const owner = await users.findById(userId)
    if (!owner || owner.isDisabled || !platforms.find(platform)?.metrics) {
      await published.settle(platform, ids, slot)
      return { ...NOTHING, skipped: ids.length }
    }
    const takenAt = clock.now()
    const followerCount = await followers.known(userId, platform, signal)
    const answers = await read(userId, platform, wanted, signal)
    const seen: Parameters<SaveSnapshots['posts']>[1] = []
    let deleted = 0
    for (const { postId, platformPostId, completedAt } of wanted) {
      const counts = answers?.get(platformPostId)
      if (counts === 'deleted') {
        if (!canBeDeleted(completedAt, collection.deletionGraceMs, takenAt)) continue
        await remove(postId, platform)
        deleted += 1
      } else if (counts) {
        const derived = deriveMetrics(counts, followerCount)
        seen.push({ postId, completedAt, ...counts, ...derived, followerCountAtSnapshot: followerCount })
      }
    }
    const saved = await saveSnapshots.posts({ userId, platform, slot, takenAt }, seen, deleted > 0)
    const silent = wanted.length - deleted - saved
    if (silent > 0) await published.settle(platform, ids, slot)
    return { ...NOTHING, saved, deleted, skipped: silent }
  }

  async function fail(error: unknown, { userId, platform, postIds, slot }: DueBatch): Promise<CollectedBatch> {
    const trouble = troubleOf(error, platform)
    const skipped = { ...NOTHING, skipped: postIds.length }
    // What is left out is still due.
    if (trouble.kind === 'pause') return { ...skipped, end: 'platform', pauseMs: trouble.waitMs }
    if (trouble.kind === 'crowded') return { ...skipped, end: 'account' }
    if (trouble.kind === 'shut') {
      if (trouble.why === 'permission') {
        log.warn('Metrics are left out: the connection lacks a permission', { userId, platform })
      }
      // The rest of the account comes to the same, in this run.
      for (const bounds of listDueBounds(collection.ages, [platform], clock.now()))
        await published.settleDue(userId, bounds)
      await published.settle(platform, postIds, new Date(slot))
      return { ...skipped, end: 'account' }
    }
    if (trouble.isUnexpected) log.error('Collecting metrics failed in an unexpected way', { error })
    // Of a post that its owner deletes meanwhile there is no letter.
    await deps.database.transaction(async (session) => {
      const there = await published.note(platform, postIds, { slot: new Date(slot) }, session)
      const letters = [...there].map((postId) => ({ type: 'post' as const, postId, userId, platform }))
      await deps.deadLetters.add(letters, trouble.reason, clock.now(), session)
    })
    return { ...NOTHING, failed: postIds.length }
  }

  /** In one call. */
  async function collectOnce(batch: DueBatch, isAsked: boolean, signal: AbortSignal): Promise<CollectedBatch> {
    let result: CollectedBatch
    try {
      result = await collect(batch, isAsked, signal)
    } catch (error) {
      signal.throwIfAborted()
      result = await fail(error, batch)
    }
    deps.metrics.metricsCollected(batch.platform, result)
    return result
  }

  /**
   * One snapshot for each post that is still due, however often it is repeated. What goes wrong at the platform is dealt with and
   * told by the result.
   * @throws what is no trouble with the platform
   */
  return async function collectPosts(batch: DueBatch, signal: AbortSignal, isAsked = false): Promise<CollectedBatch> {
    const total = { ...NOTHING }
    for (const postIds of splitIntoChunks(batch.postIds, platforms.find(batch.platform)?.metrics?.perCall ?? 1)) {
      const { end, pauseMs, ...done } = await collectOnce({ ...batch, postIds }, isAsked, signal)
      for (const name of Object.keys(done) as (keyof typeof done)[]) total[name] += done[name]
      if (end !== 'done') return { ...total, end, ...(pauseMs !== undefined && { pauseMs }) }
    }
    return total
  }
}

function wantedOf(post: PublishedPost, userId: string, platform: Platform, slot: Date | null): Wanted[] {
  const entry = post.platformStatuses.find((one) => one.platform === platform)
  if (post.userId !== userId || entry?.status !== 'completed') return []
  const { platformPostId, completedAt, metricsSlot } = entry
  if (platformPostId === null || completedAt === null) return []
  if (slot && metricsSlot && metricsSlot >= slot) return []
  return [{ postId: post._id, platformPostId, completedAt, accountId: entry.delivery.accountId }]
}
