import { log } from '@temporalio/activity'
import { describeAccount } from '../../commands/accounts/describe-account.ts'
import { chooseByPlatformId } from '../../commands/accounts/account-credentials.ts'
import { deriveMetrics, toThreadCounts, type PostCounts } from '../../domain/analytics/analytics.ts'
import {
  canBeDeleted,
  findDueLane,
  findNextCollection,
  hasEnded,
  type Lane,
} from '../../domain/analytics/collection.ts'
import { markDeleted } from '../../domain/posts/delivery-moves.ts'
import { splitIntoChunks } from '../../domain/shared/lists.ts'
import type { Platform } from '../../domain/shared/platforms.ts'
import type { Target } from '../../domain/posts/targets.ts'
import type { Context } from '../../context.ts'
import type { PlannedCollection, PublishedPost, Publisher } from '../../store/analytics/due-metrics.ts'
import { addCollected, NOTHING_COLLECTED, type Collected } from '../../workflows/contract/analytics.ts'
import type { CallAccount } from '../shared/call-account.ts'
import type { CollectFollowers } from './collect-followers.ts'
import { classifyCollectionFailure } from './collection-failure.ts'
import { isPostDeleted } from '../publishing/record-outcome.ts'
import type { SnapshotWriter } from '../../store/analytics/snapshot-writer.ts'

/** A published post whose metrics are collected. */
export interface WantedPost {
  postId: string
  platformPostId: string
  /** The ids of the further posts of a thread, in order. */
  furtherIds: string[]
  completedAt: Date
  endsAt?: Date
  /** The account, if the user chose it for the post. */
  target: string | undefined
}

/** Posts that one account published. */
export interface PostBatch extends Lane, Publisher {
  userId: string
  posts: WantedPost[]
}

export interface CollectedBatch extends Collected {
  /** `blocked`: no call for the account succeeds. `left`: the rest stays claimed, and is due again when the lease ends. */
  end: 'done' | 'blocked' | 'left'
  /** Set when the server asks for no calls for this long. */
  pauseMs?: number
}

interface CollectOptions {
  signal: AbortSignal
  /** No call starts after this has become true. */
  isOver?: () => boolean
  /** The owner waits for the result, so that a snapshot is stored even if nothing changed. */
  isRequested?: boolean
}

interface AccountReads {
  callAccount: CallAccount
  followers: CollectFollowers
}

interface CountsOfAccount {
  accountId: string
  /** By platform post id. */
  counts: Map<string, PostCounts | 'deleted'>
}

const NOTHING: CollectedBatch = { ...NOTHING_COLLECTED, end: 'done' }

/** Collects the metrics of posts of one account, in as few calls as its platform allows. */
export function createCollectPosts(context: Context, { callAccount, followers }: AccountReads) {
  const { published, accounts, users, platforms, clock, collection, snapshotWriter } = context

  /** Reads the counts of posts and threads with the account that they were published on. Other accounts cannot read them. */
  async function readCounts(batch: PostBatch, signal: AbortSignal): Promise<CountsOfAccount | null> {
    const { platform, posts } = batch
    const ids = [...posts.map(({ platformPostId }) => platformPostId), ...posts.flatMap(({ furtherIds }) => furtherIds)]
    const counts: CountsOfAccount['counts'] = new Map()
    let accountId: string | null = null
    for (const some of splitIntoChunks(ids, toPerCall(platform))) {
      const read = await readSome(batch, some, signal)
      if (!read) break
      accountId = read.accountId
      for (const [id, counted] of read.counts) counts.set(id, counted)
    }
    return accountId === null ? null : { accountId, counts }
  }

  function readSome({ userId, platform, publishedBy }: PostBatch, ids: string[], signal: AbortSignal) {
    return callAccount(
      userId,
      platform,
      async (adapter, account, options): Promise<CountsOfAccount> => {
        const { accountId } = describeAccount(userId, platform, account)
        return { accountId, counts: (await adapter.metrics?.read(ids, account, options)) ?? new Map() }
      },
      { signal, choose: chooseByPlatformId(publishedBy) },
    )
  }

  const toPerCall = (platform: Platform) => platforms.find(platform)?.metrics?.perCall ?? 1

  function planNext({ userId, posts }: Pick<PostBatch, 'userId' | 'posts'>): PlannedCollection[] {
    const now = clock.now()
    return posts.map((post) => {
      const { postId, completedAt } = post
      return {
        userId,
        postId,
        dueAt: hasEnded(post, now) ? null : findNextCollection(collection.ages, completedAt, now),
      }
    })
  }

  async function markPostDeleted({ userId }: PostBatch, postId: string, target: Target): Promise<void> {
    try {
      await context.posts.transition({ _id: postId, userId }, markDeleted(target))
    } catch (error) {
      if (!isPostDeleted(error)) throw error
    }
  }

  async function collect(batch: PostBatch, { signal, isRequested = false }: CollectOptions): Promise<CollectedBatch> {
    const { userId, platform, publishedBy, posts } = batch
    const takenAt = clock.now()
    const current = posts.filter((post) => !hasEnded(post, takenAt))
    const owner = current.length === 0 ? null : await users.findById(userId)
    if (!owner || owner.isDisabled || !platforms.find(platform)?.metrics) {
      await published.planNext(batch, planNext(batch))
      return { ...NOTHING, skipped: posts.length }
    }
    const account = chooseByPlatformId(publishedBy)(await accounts.listConnected(userId), platform)
    const followerCount = account && (await followers.findCurrent(account, signal))
    const read = await readCounts({ ...batch, posts: current }, signal)
    const rows: Parameters<SnapshotWriter['savePosts']>[1] = []
    let deleted = 0
    for (const { postId, platformPostId, furtherIds, completedAt, target } of current) {
      const counts = read?.counts.get(platformPostId)
      if (!counts) continue
      if (counts === 'deleted') {
        if (!canBeDeleted(completedAt, collection.deletionGraceMs, takenAt)) continue
        await markPostDeleted(batch, postId, target ?? platform)
        deleted += 1
      } else {
        const derived = deriveMetrics(counts, followerCount)
        const entry = { postId, target: target ?? null, accountId: read!.accountId, completedAt }
        const further = furtherIds.map((id) => toKnown(read!.counts.get(id)))
        const thread = further.length > 0 && { thread: toThreadCounts([counts, ...further]) }
        rows.push({ ...entry, ...counts, ...thread, ...derived, followerCountAtSnapshot: followerCount })
      }
    }
    const fetchDetails = { userId, platform, publishedBy, takenAt, timezone: owner.timezone, isRequested }
    const saved = await snapshotWriter.savePosts(fetchDetails, rows, deleted > 0)
    const missing = posts.length - deleted - saved
    if (missing > 0) await published.planNext(batch, planNext(batch))
    return { ...NOTHING, saved, deleted, skipped: missing }
  }

  /** Plans the batch and the other due posts of the account, which would fail in the same way. */
  async function planAll(batch: PostBatch): Promise<void> {
    const { userId } = batch
    const now = clock.now()
    const due = await published.listDue(batch, userId, now)
    const others = due.flatMap((post) => toWantedPosts(post, batch, now))
    await published.planNext(batch, planNext({ userId, posts: [...batch.posts, ...others] }))
  }

  /** Turns a failure at the platform into the result of the batch. */
  async function handleFailure(error: unknown, batch: PostBatch): Promise<CollectedBatch> {
    const { userId, platform, posts } = batch
    const collectionFailure = classifyCollectionFailure(error, platform)
    const skipped = { ...NOTHING, skipped: posts.length }
    if (collectionFailure.kind === 'pause') return { ...skipped, end: 'left', pauseMs: collectionFailure.waitMs }
    if (collectionFailure.kind === 'no-capacity') return { ...skipped, end: 'left' }
    if (collectionFailure.kind === 'account-blocked') {
      if (collectionFailure.why === 'permission') {
        log.warn('metrics skipped, permission missing', { userId, platform })
      }
      return { ...skipped, end: 'blocked' }
    }
    if (collectionFailure.isUnexpected) log.error('metrics collection failed unexpectedly', { error })
    const postIds = posts.map(({ postId }) => postId)
    // A post that its owner deletes meanwhile gets no dead letter.
    await context.database.transaction(async (session) => {
      const storable = await published.findStorable(batch, { userId, postIds }, session)
      const current = posts.filter(({ postId }) => storable.has(postId))
      await published.planNext(batch, planNext({ userId, posts: current }), { session })
      const letters = current.map(({ postId, target = null }) => ({
        type: 'post' as const,
        postId,
        userId,
        platform,
        accountId: target,
      }))
      await context.deadLetters.add(letters, collectionFailure.reason, clock.now(), session)
    })
    return { ...NOTHING, failed: posts.length }
  }

  /** Collects posts that fit into one call. */
  async function collectOnce(batch: PostBatch, options: CollectOptions): Promise<CollectedBatch> {
    let result: CollectedBatch
    try {
      result = await collect(batch, options)
    } catch (error) {
      options.signal.throwIfAborted()
      result = await handleFailure(error, batch)
    }
    context.metrics.metricsCollected(batch.platform, result)
    return result
  }

  /**
   * Stores one snapshot per post, however often it is called. The result reports failures at the platform.
   * @throws errors of the database, and the reason of an aborted signal
   */
  return async function collectPosts(batch: PostBatch, options: CollectOptions): Promise<CollectedBatch> {
    const total = { ...NOTHING }
    for (const posts of splitIntoChunks(batch.posts, toPerCall(batch.platform))) {
      if (options.isOver?.()) return { ...total, end: 'left' }
      const { end, pauseMs, ...done } = await collectOnce({ ...batch, posts }, options)
      addCollected(total, done)
      if (end === 'blocked') await planAll(batch)
      if (end !== 'done') return { ...total, end, ...(pauseMs !== undefined && { pauseMs }) }
    }
    return total
  }
}

export type CollectPosts = ReturnType<typeof createCollectPosts>

/** Selects the entries of a post that an account published, and that are due if `dueBy` is given. */
export function toWantedPosts(
  { _id: postId, platformStatuses }: PublishedPost,
  { platform, publishedBy }: Publisher,
  dueBy?: Date,
): WantedPost[] {
  return platformStatuses.flatMap((entry): WantedPost[] => {
    const { platformPostId, completedAt, endsAt, target, parts = [] } = entry
    if (entry.platform !== platform || entry.delivery.accountId !== publishedBy) return []
    if (entry.status !== 'completed' || platformPostId === null || completedAt === null) return []
    if (dueBy && !findDueLane(entry, dueBy)) return []
    const furtherIds = parts.slice(1).map((part) => part.platformPostId)
    return [{ postId, platformPostId, furtherIds, completedAt, ...(endsAt && { endsAt }), target }]
  })
}

const toKnown = (counts: PostCounts | 'deleted' | undefined): PostCounts | null =>
  counts === 'deleted' ? null : (counts ?? null)
