import { log } from '@temporalio/activity'
import type { Clock } from '../../clock.ts'
import { chooseByPlatformId } from '../../commands/accounts/account-credentials.ts'
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
import type { PublishedPost, DueMetricsStore } from '../../store/analytics/due-metrics.ts'
import type { UserStore } from '../../store/users/users.ts'
import type { CollectedBatch, DueBatch } from '../../workflows/messages/analytics.ts'
import type { CallAccount } from './call-account.ts'
import type { CollectFollowers } from './collect-followers.ts'
import { classifyCollectionFailure } from './collection-failure.ts'
import { isPostDeleted } from '../publishing/record-outcome.ts'
import type { SnapshotWriter } from '../../store/analytics/snapshot-writer.ts'

export interface CollectPostsDeps {
  database: Pick<Database, 'transaction'>
  published: DueMetricsStore
  posts: Pick<PostStore, 'transition'>
  users: Pick<UserStore, 'findById'>
  platforms: Pick<PlatformRegistry, 'find'>
  deadLetters: Pick<DeadLetterStore, 'add'>
  clock: Clock
  metrics: Pick<Metrics, 'metricsCollected'>
  collection: { ages: AgeClass[]; deletionGraceMs: number }
  callAccount: CallAccount
  followers: Pick<CollectFollowers, 'findCurrent'>
  snapshotWriter: SnapshotWriter
}

/** A published post whose metrics are collected. */
interface WantedPost {
  postId: string
  platformPostId: string
  completedAt: Date
  /** The account that it was published on. */
  accountId: string | null
}

const NOTHING: CollectedBatch = { saved: 0, deleted: 0, skipped: 0, failed: 0, end: 'done' }

/** Collects the metrics of posts of one account, in as few calls as its platform allows. */
export function createCollectPosts(deps: CollectPostsDeps) {
  const { published, users, platforms, clock, collection, callAccount, followers, snapshotWriter } = deps

  /** Reads the counts of posts with the accounts that they were published on. Other accounts cannot read them. */
  async function readCounts(userId: string, platform: Platform, wanted: WantedPost[], signal: AbortSignal) {
    const counts = new Map<string, PostCounts | 'deleted'>()
    for (const [accountId, own] of Map.groupBy(wanted, (post) => post.accountId)) {
      const ids = own.map(({ platformPostId }) => platformPostId)
      const read = await callAccount(
        userId,
        platform,
        async (adapter, account, options) => (await adapter.metrics?.read(ids, account, options)) ?? null,
        { signal, choose: chooseByPlatformId(accountId) },
      )
      for (const [id, count] of read ?? []) counts.set(id, count)
    }
    return counts
  }

  async function markPostDeleted(postId: string, platform: Platform): Promise<void> {
    try {
      await deps.posts.transition(postId, markDeleted(platform))
    } catch (error) {
      if (!isPostDeleted(error)) throw error
    }
  }

  /** @param isForced collects again although there is a snapshot of this slot */
  async function collect(batch: DueBatch, isForced: boolean, signal: AbortSignal): Promise<CollectedBatch> {
    const { userId, platform, postIds } = batch
    const slot = new Date(batch.slot)
    const found = await published.find(postIds)
    const wanted = found.flatMap((post) => toWantedPosts(post, userId, platform, isForced ? null : slot))
    if (wanted.length === 0) return NOTHING
    const ids = wanted.map(({ postId }) => postId)
    const owner = await users.findById(userId)
    if (!owner || owner.isDisabled || !platforms.find(platform)?.metrics) {
      await published.markSlotDone(platform, ids, slot)
      return { ...NOTHING, skipped: ids.length }
    }
    const takenAt = clock.now()
    const followerCount = await followers.findCurrent(userId, platform, signal)
    const countsById = await readCounts(userId, platform, wanted, signal)
    const rows: Parameters<SnapshotWriter['savePosts']>[1] = []
    let deleted = 0
    for (const { postId, platformPostId, completedAt } of wanted) {
      const counts = countsById.get(platformPostId)
      if (counts === 'deleted') {
        if (!canBeDeleted(completedAt, collection.deletionGraceMs, takenAt)) continue
        await markPostDeleted(postId, platform)
        deleted += 1
      } else if (counts) {
        const derived = deriveMetrics(counts, followerCount)
        rows.push({ postId, completedAt, ...counts, ...derived, followerCountAtSnapshot: followerCount })
      }
    }
    const saved = await snapshotWriter.savePosts({ userId, platform, slot, takenAt }, rows, deleted > 0)
    const missing = wanted.length - deleted - saved
    if (missing > 0) await published.markSlotDone(platform, ids, slot)
    return { ...NOTHING, saved, deleted, skipped: missing }
  }

  /** Turns a failure at the platform into the result of the batch. */
  async function handleFailure(error: unknown, { userId, platform, postIds, slot }: DueBatch): Promise<CollectedBatch> {
    const collectionFailure = classifyCollectionFailure(error, platform)
    const skipped = { ...NOTHING, skipped: postIds.length }
    // Skipped posts stay due.
    if (collectionFailure.kind === 'pause') {
      return { ...skipped, end: 'platform', pauseMs: collectionFailure.waitMs }
    }
    if (collectionFailure.kind === 'no-capacity') return { ...skipped, end: 'account' }
    if (collectionFailure.kind === 'account-blocked') {
      if (collectionFailure.why === 'permission') {
        log.warn('metrics skipped, permission missing', { userId, platform })
      }
      // The other due posts of the account would fail the same way in this run.
      for (const bounds of listDueBounds(collection.ages, [platform], clock.now()))
        await published.markDueDone(userId, bounds)
      await published.markSlotDone(platform, postIds, new Date(slot))
      return { ...skipped, end: 'account' }
    }
    if (collectionFailure.isUnexpected) log.error('metrics collection failed unexpectedly', { error })
    // A post that its owner deletes meanwhile gets no dead letter.
    await deps.database.transaction(async (session) => {
      const stillPublished = await published.recordFetch(platform, postIds, { slot: new Date(slot) }, session)
      const letters = [...stillPublished].map((postId) => ({ type: 'post' as const, postId, userId, platform }))
      await deps.deadLetters.add(letters, collectionFailure.reason, clock.now(), session)
    })
    return { ...NOTHING, failed: postIds.length }
  }

  /** Collects posts that fit into one call. */
  async function collectOnce(batch: DueBatch, isForced: boolean, signal: AbortSignal): Promise<CollectedBatch> {
    let result: CollectedBatch
    try {
      result = await collect(batch, isForced, signal)
    } catch (error) {
      signal.throwIfAborted()
      result = await handleFailure(error, batch)
    }
    deps.metrics.metricsCollected(batch.platform, result)
    return result
  }

  /**
   * Stores one snapshot per due post, however often it is called. The result reports failures at the platform.
   * @throws errors of the database, and the reason of an aborted signal
   */
  return async function collectPosts(batch: DueBatch, signal: AbortSignal, isForced = false): Promise<CollectedBatch> {
    const total = { ...NOTHING }
    for (const postIds of splitIntoChunks(batch.postIds, platforms.find(batch.platform)?.metrics?.perCall ?? 1)) {
      const { end, pauseMs, ...done } = await collectOnce({ ...batch, postIds }, isForced, signal)
      for (const name of Object.keys(done) as (keyof typeof done)[]) total[name] += done[name]
      if (end !== 'done') return { ...total, end, ...(pauseMs !== undefined && { pauseMs }) }
    }
    return total
  }
}

export type CollectPosts = ReturnType<typeof createCollectPosts>

function toWantedPosts(post: PublishedPost, userId: string, platform: Platform, slot: Date | null): WantedPost[] {
  const entry = post.platformStatuses.find((one) => one.platform === platform)
  if (post.userId !== userId || entry?.status !== 'completed') return []
  const { platformPostId, completedAt, metricsSlot } = entry
  if (platformPostId === null || completedAt === null) return []
  if (slot && metricsSlot && metricsSlot >= slot) return []
  return [{ postId: post._id, platformPostId, completedAt, accountId: entry.delivery.accountId }]
}
