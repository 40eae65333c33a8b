import { resolveContent } from './content.ts'
import { prepareLeadMs } from './posting-rules.ts'
import type { Platform } from '../shared/platforms.ts'
import type { Post } from './post.ts'
import { SECOND } from '../shared/times.ts'

/** A post as workflows see it: ids and times, never text, tokens or addresses. */
export interface PublishPlan {
  postId: string
  /** Workflows ignore messages with a lower revision. */
  revision: number
  /** Milliseconds since the epoch. */
  dueAt: number
  /** Platforms whose delivery is open. */
  platforms: PlannedPlatform[]
}

export interface PlannedPlatform {
  platform: Platform
  round: number
  /** How long before `dueAt` preparation should start; 0 when the armed activity prepares in time. */
  prepareLeadMs: number
}

/** Returns the plan of a post; null when there is nothing left to deliver. */
export function toPublishPlan(post: Post): PublishPlan | null {
  if (post.dueAt === null || post.status === 'DRAFT' || post.status === 'CANCELLED') return null
  const platforms = post.platformStatuses
    .filter(({ status }) => status === 'pending' || status === 'processing')
    .map(({ platform, delivery }) => ({
      platform,
      round: delivery.round,
      prepareLeadMs: prepareLeadMs(platform, resolveContent(post, platform)),
    }))
  if (platforms.length === 0) return null
  return { postId: post._id, revision: post.revision, dueAt: post.dueAt.getTime(), platforms }
}

const SHORTEST_LEAD_MS = 3 * SECOND
const LEAD_SPREAD_MS = 7 * SECOND

/**
 * Returns how long before it is due a post is armed, milliseconds. The lead depends on the id, so that timers, workflow tasks and
 * activities of many posts with one due time do not queue behind each other.
 */
export function armLeadMs(postId: string): number {
  return SHORTEST_LEAD_MS + (fnv1a(postId) % LEAD_SPREAD_MS)
}

/** FNV-1a, 32 bit: evenly distributed, and the same in every process and replay. */
function fnv1a(text: string): number {
  let hash = 0x811c9dc5
  for (let index = 0; index < text.length; index++) {
    hash = Math.imul(hash ^ text.charCodeAt(index), 0x01000193) >>> 0
  }
  return hash
}
