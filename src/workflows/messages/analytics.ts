import type { Platform } from '../../domain/shared/platforms.ts'
import { MINUTE } from '../../domain/shared/times.ts'

/** A place in the listing of posts whose metrics are due: an age class after the other, and in each an owner after the other. */
export interface DuePlace {
  ageClass: number
  /** That of the youngest posts when their listing began, epoch milliseconds. */
  youngestSlot: number
  /** The listing of each age begins after this owner, and comes round to them. */
  startUserId: string | null
  isRound: boolean
  /** The last owner whose posts were all listed. */
  afterUserId: string | null
  /** One whose posts are still being listed, by their ids. */
  within: { userId: string; afterPostId: string | null } | null
}

/** The posts of an account whose metrics are due, in batches of one activity each. */
export interface DueAccount {
  userId: string
  platform: Platform
  batches: string[][]
}

export interface DuePage {
  accounts: DueAccount[]
  /** Epoch milliseconds. */
  slot: number
  /** Where the next page begins; null when there is none. */
  next: DuePlace | null
}

/** What one call asks for: the metrics of some posts of one account. */
export interface DueBatch {
  userId: string
  platform: Platform
  postIds: string[]
  /** Epoch milliseconds. */
  slot: number
}

/** What became of the posts of a batch. */
export interface CollectedPosts {
  saved: number
  deleted: number
  skipped: number
  failed: number
}

export interface CollectedBatch extends CollectedPosts {
  /** After which the rest of the account, or of the platform for a while, comes to nothing. */
  end: 'done' | 'account' | 'platform'
  pauseMs?: number
}

/** Platforms that are left alone until then, epoch milliseconds. */
export type Pauses = Partial<Record<Platform, number>>

/** What became of a page of accounts; `next` names its last user, null when there are no more. */
export interface FollowersPage {
  next: string | null
  pauses: Pauses
  taken: number
  skipped: number
  failed: number
  /** Not asked for, since the platform has to be left alone. */
  paused: number
}

/** How a refresh of metrics ended. `unknown`: it may still run, or may never have started. */
export type RefreshOutcome = 'fresh' | 'failed' | 'unknown'

/** No refresh runs for longer than this after it was asked for. */
export const REFRESH_TIMEOUT_MS = 2 * MINUTE

export function refreshWorkflowId(postId: string, platform: Platform): string {
  return `analytics-refresh/${postId}/${platform}`
}

/** Names one connection of an account: a new login has another version. */
export function toConnectionId(userId: string, platform: Platform, version: number): string {
  return `${userId}/${platform}/${version}`
}

export function parseConnectionId(connectionId: string): { userId: string; platform: Platform } {
  const [userId, platform] = connectionId.split('/') as [string, Platform]
  return { userId, platform }
}
