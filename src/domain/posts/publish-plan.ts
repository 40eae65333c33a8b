import { listOwnMedia, resolveContent } from './content.ts'
import { needsPage } from './link.ts'
import { prepareLeadMs } from './posting-rules.ts'
import type { Platform } from '../shared/platforms.ts'
import type { PlatformStatus, Post } from './post.ts'
import { SECOND } from '../shared/times.ts'

/** A post as workflows see it: ids and times, never text, tokens or addresses. */
export interface PublishPlan {
  postId: string
  userId: string
  /** Workflows ignore messages with a lower revision. */
  revision: number
  /** When the post is due, milliseconds since the epoch. */
  dueAt: number
  /** When its deliveries start to wait for that instant. */
  armAt: number
  /** Set when the first attempts probably take a second at most, so that they need no task of their own. */
  isBrief?: true
  /** Entries whose delivery is open. */
  platforms: PlannedPlatform[]
}

export interface PlannedPlatform {
  platform: Platform
  /** The account that the user chose; absent for the default account of the platform. */
  target?: string
  round: number
  /** When its media is prepared; absent when the armed delivery prepares in time. */
  prepareAt?: number
}

/** Returns the plan of a post; null when there is nothing left to deliver. */
export function toPublishPlan(post: Post): PublishPlan | null {
  if (post.dueAt === null || post.status === 'DRAFT' || post.status === 'CANCELLED') return null
  const dueAt = post.dueAt.getTime()
  const armAt = dueAt - armLeadMs(post._id, post.dueRank)
  const open = post.platformStatuses.filter(({ status }) => status === 'pending' || status === 'processing')
  if (open.length === 0) return null
  const platforms = open.map((entry): PlannedPlatform => {
    const prepareAt = dueAt - prepareLeadMs(entry.platform, resolveContent(post, entry))
    return {
      platform: entry.platform,
      ...(entry.target !== undefined && { target: entry.target }),
      round: entry.delivery.round,
      ...(prepareAt < armAt && { prepareAt }),
    }
  })
  const isBrief = open.every((entry) => isFirstText(post, entry))
  const { _id: postId, userId, revision } = post
  return { postId, userId, revision, dueAt, armAt, ...(isBrief && { isBrief }), platforms }
}

/** True for the first attempt of an immediate text without a hold for which no other server is read. */
function isFirstText(post: Post, entry: PlatformStatus): boolean {
  const content = resolveContent(post, entry)
  const isText = listOwnMedia(content).length === 0 && !needsPage(entry.platform, content)
  const isDue = post.scheduledAt === null && post.dueAt! <= post.updatedAt
  return isDue && entry.delivery.attempt === 0 && isText
}

const SHORTEST_LEAD_MS = 3 * SECOND
const LEAD_SPREAD_MS = 7 * SECOND
/** What two processor cores arm without delay, Temporal included. */
const ARMED_PER_SECOND = 25
const LONGEST_QUEUE_MS = 110 * SECOND
/** Posts with a higher rank have the same lead. */
export const HIGHEST_DUE_RANK = (LONGEST_QUEUE_MS / SECOND) * ARMED_PER_SECOND

/**
 * Returns how long before it is due a post is armed, milliseconds. Posts of one instant are armed one after the other, at a rate that a
 * small machine keeps up with. Posts of equal rank, which were stored together, are spread by their ids.
 */
export function armLeadMs(postId: string, dueRank = 0): number {
  return SHORTEST_LEAD_MS + (fnv1a(postId) % LEAD_SPREAD_MS) + toQueueMs(dueRank)
}

/** Returns the longest lead of any post with this rank, milliseconds. */
export function longestArmLeadMs(dueRank = HIGHEST_DUE_RANK): number {
  return SHORTEST_LEAD_MS + LEAD_SPREAD_MS + toQueueMs(dueRank)
}

function toQueueMs(dueRank: number): number {
  return Math.min((dueRank / ARMED_PER_SECOND) * SECOND, LONGEST_QUEUE_MS)
}

/** FNV-1a, 32 bit: evenly distributed, and the same in every process and replay. */
function fnv1a(text: string): number {
  let hash = 0x811c9dc5
  for (let index = 0; index < text.length; index++) {
    hash = Math.imul(hash ^ text.charCodeAt(index), 0x01000193) >>> 0
  }
  return hash
}
