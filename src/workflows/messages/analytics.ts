import type { OwnerRange } from '../../domain/analytics/shards.ts'
import type { Platform } from '../../domain/shared/platforms.ts'
import { MINUTE } from '../../domain/shared/times.ts'

/** A position in the listing of posts whose metrics are due: by age class, then by owner. Stored histories hold the field names. */
export interface DuePlace {
  /** Absent for all platforms, in runs of older releases. */
  platform?: Platform
  /** The owners of the shard; absent for all owners. */
  range?: OwnerRange
  ageClass: number
  /** The listing of each age class starts after this owner, and ends with them; null for the first owner. */
  startUserId: string | null
  /** Whether the listing has passed the last owner and continues from the first one. */
  isRound: boolean
  /** The last owner that was listed. */
  afterUserId: string | null
}

/** A part of a collection run: a platform and a range of owners. */
export interface CollectionShard {
  /** Such as "Mastodon, shard 2 of 8". */
  name: string
  place: DuePlace
}

export interface CollectionPlan {
  shards: CollectionShard[]
  /** When the run ends, in epoch milliseconds. Posts that are left stay due for the next run. */
  endsAt: number
}

/** The posts of an account whose metrics are due. Each batch is one activity. */
export interface DueAccount {
  userId: string
  platform: Platform
  /** The platform's id of the account that published the posts; absent in messages of older releases, which mean all accounts. */
  publishedBy?: string | null
  /** The host of a platform with several servers. Accounts of one server share collectors. */
  server?: string
  batches: string[][]
}

export interface DuePage {
  accounts: DueAccount[]
  /** Epoch milliseconds. */
  slot: number
  /** The place of the next page; null on the last page. */
  next: DuePlace | null
}

/** The posts of one account whose metrics one activity collects. */
export interface DueBatch {
  userId: string
  platform: Platform
  publishedBy?: string | null
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

/** The end of each platform's pause in epoch milliseconds. */
export type Pauses = Partial<Record<Platform, number>>

/** The numbers of accounts in a page by result. `next` is the last user of the page; null on the last page. */
export interface FollowersPage {
  next: string | null
  pauses: Pauses
  taken: number
  skipped: number
  failed: number
  /** Not read, because calls to the platform are paused. */
  paused: number
}

/** Users whose snapshots of a time are downsampled: those after `afterUserId`. */
export interface DownsamplePlace {
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
  next: DownsamplePlace | null
}

/** The result of a metrics refresh. `unknown`: it may still run, or may never have started. */
export type RefreshOutcome = 'fresh' | 'failed' | 'unknown'

/** No refresh runs longer than this after its request. */
export const REFRESH_TIMEOUT_MS = 2 * MINUTE

/** @param target the account, if the user chose it for the post */
export function refreshWorkflowId(postId: string, platform: Platform, target?: string): string {
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

/** The ids of older releases have no account, and mean the default one. */
export function parseConnectionId(connectionId: string): { userId: string; platform: Platform; accountId?: string } {
  const [userId, platform, , accountId] = connectionId.split('/') as [string, Platform, string, string?]
  return { userId, platform, ...(accountId !== undefined && { accountId }) }
}
