import { log } from '@temporalio/activity'
import type { Clock } from '../../clock.ts'
import { describeAccount } from '../../commands/accounts/describe-account.ts'
import { chooseByPlatformId } from '../../commands/accounts/account-credentials.ts'
import { deriveMetrics, type PostCounts } from '../../domain/analytics/analytics.ts'
import { canBeDeleted, findNextCollection, type AgeClass } from '../../domain/analytics/collection.ts'
import { markDeleted } from '../../domain/posts/delivery-moves.ts'
import { splitIntoChunks } from '../../domain/shared/lists.ts'
import type { Target } from '../../domain/posts/targets.ts'
import type { Platform } from '../../domain/shared/platforms.ts'
import type { Metrics } from '../../telemetry/metrics.ts'
import type { PlatformRegistry } from '../../platforms/registry.ts'
import type { AccountStore } from '../../store/accounts/accounts.ts'
import type { Database } from '../../store/shared/database.ts'
import type { DeadLetterStore } from '../../store/analytics/dead-letters.ts'
import type { PostStore } from '../../store/posts/posts.ts'
import type { DueMetricsStore, PlannedCollection, PublishedPost } from '../../store/analytics/due-metrics.ts'
import type { UserStore } from '../../store/users/users.ts'
import type { CollectedBatch, DueBatch } from '../../workflows/contract/analytics.ts'
import type { CallAccount } from './call-account.ts'
import type { CollectFollowers } from './collect-followers.ts'
import { classifyCollectionFailure } from './collection-failure.ts'
import { isPostDeleted } from '../publishing/record-outcome.ts'
import type { SnapshotWriter } from '../../store/analytics/snapshot-writer.ts'

export interface CollectPostsDeps {
  database: Database
  published: DueMetricsStore
  posts: PostStore
  accounts: AccountStore
  users: UserStore
  platforms: PlatformRegistry
  deadLetters: DeadLetterStore
  clock: Clock
  metrics: Metrics
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
  /** The account, if the user chose it for the post. */
  target: string | undefined
  /** The platform's id of the account that it was published on. */
  publishedBy: string | null
}

/** The counts of a post, and the account that read them. */
interface ReadCounts {
  counts: PostCounts | 'deleted'
  accountId: string
}

const NOTHING: CollectedBatch = { saved: 0, deleted: 0, skipped: 0, failed: 0, end: 'done' }

/** Collects the metrics of posts of one account, in as few calls as its platform allows. */
export function createCollectPosts(deps: CollectPostsDeps) {
  const { published, accounts, users, platforms, clock, collection, callAccount, followers, snapshotWriter } = deps

  /** Reads the counts of posts with the accounts that they were published on. Other accounts cannot read them. */
  async function readCounts(userId: string, platform: Platform, wanted: WantedPost[], signal: AbortSignal) {
    const countsById = new Map<string, ReadCounts>()
    for (const [publishedBy, own] of Map.groupBy(wanted, (post) => post.publishedBy)) {
      const ids = own.map(({ platformPostId }) => platformPostId)
      const read = await callAccount(
        userId,
        platform,
        async (adapter, account, options) => {
          const { accountId } = describeAccount(userId, platform, account)
          return { accountId, counts: await adapter.metrics?.read(ids, account, options) }
        },
        { signal, choose: chooseByPlatformId(publishedBy) },
      )
      for (const [id, counts] of read?.counts ?? []) countsById.set(id, { counts, accountId: read!.accountId })
    }
    return countsById
  }

  function planNext(wanted: WantedPost[], { userId }: DueBatch): PlannedCollection[] {
    const now = clock.now()
    return wanted.map(({ postId, completedAt }) => {
      return { userId, postId, dueAt: findNextCollection(collection.ages, completedAt, now) }
    })
  }

  async function markPostDeleted({ userId }: DueBatch, postId: string, target: Target): Promise<void> {
    try {
      await deps.posts.transition({ _id: postId, userId }, markDeleted(target))
    } catch (error) {
      if (!isPostDeleted(error)) throw error
    }
  }

  /** @param isRequested collects again although there is a snapshot of this slot */
  async function collect(batch: DueBatch, isRequested: boolean, signal: AbortSignal): Promise<CollectedBatch> {
    const { userId, platform, postIds } = batch
    const found = await published.find(userId, postIds)
    const wanted = found.flatMap((post) => toWantedPosts(post, batch, isRequested))
    if (wanted.length === 0) return NOTHING
    const owner = await users.findById(userId)
    if (!owner || owner.isDisabled || !platforms.find(platform)?.metrics) {
      await published.planNext(batch, planNext(wanted, batch))
      return { ...NOTHING, skipped: wanted.length }
    }
    const takenAt = clock.now()
    const followerCounts = new Map<string | null, number | null>()
    for (const publishedBy of new Set(wanted.map((post) => post.publishedBy))) {
      const account = chooseByPlatformId(publishedBy)(await accounts.listConnected(userId), platform)
      followerCounts.set(publishedBy, account && (await followers.findCurrent(account, signal)))
    }
    const countsById = await readCounts(userId, platform, wanted, signal)
    const rows: Parameters<SnapshotWriter['savePosts']>[1] = []
    let deleted = 0
    for (const { postId, platformPostId, completedAt, target, publishedBy } of wanted) {
      const read = countsById.get(platformPostId)
      if (!read) continue
      const { counts, accountId } = read
      if (counts === 'deleted') {
        if (!canBeDeleted(completedAt, collection.deletionGraceMs, takenAt)) continue
        await markPostDeleted(batch, postId, target ?? platform)
        deleted += 1
      } else {
        const followerCount = followerCounts.get(publishedBy) ?? null
        const derived = deriveMetrics(counts, followerCount)
        const entry = { postId, target: target ?? null, accountId, completedAt }
        rows.push({ ...entry, ...counts, ...derived, followerCountAtSnapshot: followerCount })
      }
    }
    const { publishedBy } = batch
    const fetchDetails = { userId, platform, publishedBy, takenAt, timezone: owner.timezone, isRequested }
    const saved = await snapshotWriter.savePosts(fetchDetails, rows, deleted > 0)
    const missing = wanted.length - deleted - saved
    if (missing > 0) await published.planNext(batch, planNext(wanted, batch))
    return { ...NOTHING, saved, deleted, skipped: missing }
  }

  /** Turns a failure at the platform into the result of the batch. */
  async function handleFailure(error: unknown, batch: DueBatch): Promise<CollectedBatch> {
    const { userId, platform, postIds } = batch
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
      const due = await published.listDueOfUser(userId, platform, clock.now())
      await published.planNext(
        batch,
        planNext(
          due.flatMap((post) => toWantedPosts(post, batch)),
          batch,
        ),
      )
      return { ...skipped, end: 'account' }
    }
    if (collectionFailure.isUnexpected) log.error('metrics collection failed unexpectedly', { error })
    const found = await published.find(userId, postIds)
    const wanted = found.flatMap((post) => toWantedPosts(post, batch, true))
    // A post that its owner deletes meanwhile gets no dead letter.
    await deps.database.transaction(async (session) => {
      const storable = await published.findStorable(batch, { userId, postIds }, session)
      const current = wanted.filter(({ postId }) => storable.has(postId))
      await published.planNext(batch, planNext(current, batch), { session })
      const letters = current.map(({ postId, target = null }) => ({
        type: 'post' as const,
        postId,
        userId,
        platform,
        accountId: target,
      }))
      await deps.deadLetters.add(letters, collectionFailure.reason, clock.now(), session)
    })
    return { ...NOTHING, failed: postIds.length }
  }

  /** Collects posts that fit into one call. */
  async function collectOnce(batch: DueBatch, isRequested: boolean, signal: AbortSignal): Promise<CollectedBatch> {
    let result: CollectedBatch
    try {
      result = await collect(batch, isRequested, signal)
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
  return async function collectPosts(
    batch: DueBatch,
    signal: AbortSignal,
    isRequested = false,
  ): Promise<CollectedBatch> {
    const total = { ...NOTHING }
    for (const postIds of splitIntoChunks(batch.postIds, platforms.find(batch.platform)?.metrics?.perCall ?? 1)) {
      const { end, pauseMs, ...done } = await collectOnce({ ...batch, postIds }, isRequested, signal)
      for (const name of Object.keys(done) as (keyof typeof done)[]) total[name] += done[name]
      if (end !== 'done') return { ...total, end, ...(pauseMs !== undefined && { pauseMs }) }
    }
    return total
  }
}

export type CollectPosts = ReturnType<typeof createCollectPosts>

function toWantedPosts(
  { _id, userId, platformStatuses }: PublishedPost,
  batch: DueBatch,
  isRequested = false,
): WantedPost[] {
  if (userId !== batch.userId) return []
  const own = platformStatuses.filter(
    ({ platform, delivery }) => platform === batch.platform && delivery.accountId === batch.publishedBy,
  )
  return own.flatMap(({ status, platformPostId, completedAt, metricsDueAt, target, delivery }): WantedPost[] => {
    if (status !== 'completed' || platformPostId === null || completedAt === null) return []
    if (!isRequested && !(metricsDueAt && metricsDueAt.getTime() <= batch.slot)) return []
    return [{ postId: _id, platformPostId, completedAt, target, publishedBy: delivery.accountId }]
  })
}
