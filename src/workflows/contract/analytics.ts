import type { OwnerRange } from '../../domain/analytics/shards.ts'
import type { Platform } from '../../domain/shared/platforms.ts'
import { MINUTE } from '../../domain/shared/times.ts'

/** A position in a shard's listing of posts whose metrics are due: by age class, then by owner. */
export interface DuePlace {
  platform: Platform
  /** The owners of the shard. */
  range: OwnerRange
  ageClass: number
  /** The listing of each age class starts after this owner, and ends with them; null for the first owner. */
  startUserId: string | null
  /** Whether the listing has passed the last owner and continues from the first one. */
  hasWrapped: boolean
  /** The last owner that was listed. */
  afterUserId: string | null
}

/** Each age class starts at the same random owner, so that a rate limit does not exclude the same owners in every run. */
export function startAgeClass(
  ageClass: number,
  { platform, range, startUserId }: Pick<DuePlace, 'platform' | 'range' | 'startUserId'>,
): DuePlace {
  const afterUserId = startUserId ?? range.afterUserId
  return { platform, range, ageClass, startUserId, hasWrapped: false, afterUserId }
}

/** A part of a collection run: a platform and a range of owners. */
export interface CollectionShard {
  /** Such as "Mastodon, shard 2 of 8". */
  name: string
  platform: Platform
  range: OwnerRange
}

export interface CollectionPlan {
  shards: (CollectionShard & Pick<DuePlace, 'startUserId'>)[]
  /** When the run ends, in epoch milliseconds. Posts that are left stay due for the next run. */
  endsAt: number
}

/** The collection of follower counts has no end: its run starts once a day. */
export interface FollowersPlan {
  shards: CollectionShard[]
}

/** The name of a server in pauses. A platform without several servers is one. */
export function toServerName(platform: Platform, server: string | null | undefined): string {
  return server ? `${platform} ${server}` : platform
}

/** The posts of an account whose metrics are due. Each batch is one activity. */
export interface DueAccount {
  userId: string
  platform: Platform
  /** The platform's id of the account that published the posts. */
  publishedBy: string | null
  /** The server of a platform with many, by its address or host. Accounts of one server share collectors. */
  server?: string
  batches: string[][]
}

export interface DuePage {
  accounts: DueAccount[]
  /** Epoch milliseconds. */
  slot: number
  /** The cursor of the next page; null on the last page. */
  next: DuePlace | null
  /** Set when the owner of the page has more due posts than fit, which no other page of this listing has. */
  isCut?: true
}

/** The posts of one account whose metrics one activity collects. */
export interface DueBatch {
  userId: string
  platform: Platform
  publishedBy: string | null
  postIds: string[]
  /** Epoch milliseconds. */
  slot: number
}

/** The numbers of posts in a batch by result. */
export interface CollectedPosts {
  saved: number
  deleted: number
  skipped: number
  failed: number
}

export interface CollectedBatch extends CollectedPosts {
  /** Whether the workflow goes on, skips the rest of the account, or pauses the platform or server. */
  end: 'done' | 'account' | 'platform'
  pauseMs?: number
}

/** The end of each server's pause in epoch milliseconds, by `toServerName`. */
export type Pauses = Record<string, number>

/** A position in the accounts of a shard whose follower counts are collected. */
export interface FollowersPlace extends Pick<CollectionShard, 'platform' | 'range'> {
  /** Null at the beginning. */
  after: string | null
  pauses: Pauses
  /** The servers that a later round reads; absent in the first one, which reads all. */
  servers?: string[]
}

/** The numbers of accounts by result. */
export interface CollectedFollowers {
  taken: number
  skipped: number
  failed: number
  /** Not read, because their server is paused. */
  paused: number
}

/** `next` is where the next page begins; null on the last page. */
export interface FollowersPage extends CollectedFollowers {
  next: string | null
  pauses: Pauses
}

/** Users whose snapshots of a time are downsampled: those after `afterUserId`. */
export interface DownsampleCursor {
  /** Epoch milliseconds; null for the beginning. */
  from: number | null
  /** Epoch milliseconds. */
  until: number
  afterUserId: string | null
}

export interface Downsampled {
  removed: number
}

export interface DownsampledPage extends Downsampled {
  /** Null on the last page. */
  next: DownsampleCursor | null
}

/** The result of a metrics refresh. `unknown`: it may still run, or may never have started. */
export type RefreshOutcome = 'fresh' | 'failed' | 'unknown'

/** No refresh runs longer than this after its request. */
export const REFRESH_TIMEOUT_MS = 2 * MINUTE

/** The input of `refreshMetrics`: a post on one platform. */
export interface RefreshInput {
  userId: string
  postId: string
  platform: Platform
  /** The account, if the user chose it for the post. */
  target?: string | undefined
}

export function refreshWorkflowId({ postId, platform, target }: Omit<RefreshInput, 'userId'>): string {
  return `analytics-refresh/${postId}/${platform}${target === undefined ? '' : `/${target}`}`
}

interface Connection {
  _id: string
  userId: string
  platform: Platform
  version: number
}

/** The id of one connection of an account. A new login has another version. */
export function toConnectionId({ _id, userId, platform, version }: Connection): string {
  return `${userId}/${platform}/${version}/${_id}`
}

export function parseConnectionId(connectionId: string): { userId: string; platform: Platform; accountId: string } {
  const [userId, platform, , accountId] = connectionId.split('/') as [string, Platform, string, string]
  return { userId, platform, accountId }
}
