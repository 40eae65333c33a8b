import type { Platform } from '../../domain/shared/platforms.ts'
import { MINUTE } from '../../domain/shared/times.ts'

/** The numbers of posts or accounts by result. */
export interface Collected {
  saved: number
  deleted: number
  skipped: number
  failed: number
}

export const NOTHING_COLLECTED: Readonly<Collected> = { saved: 0, deleted: 0, skipped: 0, failed: 0 }

/** Adds the numbers of `more` to `totals`. */
export function addCollected(totals: Collected, more: Collected): void {
  for (const name of Object.keys(NOTHING_COLLECTED) as (keyof Collected)[]) totals[name] += more[name]
}

export interface CollectorTurn extends Collected {
  /** When the collector goes on, in epoch milliseconds; null when nothing is left for it in this run. */
  resumeAt: number | null
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
