import { resolveContent } from './content.ts'
import { prepareLeadMs } from './posting-rules.ts'
import type { Platform } from '../shared/platforms.ts'
import type { Post } from './post.ts'
import { SECOND } from '../shared/times.ts'

/** What a workflow has to know of a post: ids and instants, never text, tokens or addresses. */
export interface PublishPlan {
  postId: string
  /** Messages about lower revisions say nothing new. */
  revision: number
  /** Milliseconds since the epoch. */
  dueAt: number
  /** The platforms whose delivery is open. */
  platforms: PlannedPlatform[]
}

export interface PlannedPlatform {
  platform: Platform
  round: number
  /** How long before the instant the invisible steps should begin; 0 when the armed activity does them in time. */
  prepareLeadMs: number
}

/** The plan of a post, or null when nothing of it is left to deliver. */
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
 * How long before its instant a post is armed, milliseconds. A timer, a workflow task and the dispatch of an activity
 * queue behind each other when many posts share an instant; the spread by id takes them apart (design section 5).
 */
export function armLeadMs(postId: string): number {
  return SHORTEST_LEAD_MS + (fnv1a(postId) % LEAD_SPREAD_MS)
}

/** FNV-1a, 32 bit: even enough for a spread, and the same in every process and replay. */
function fnv1a(text: string): number {
  let hash = 0x811c9dc5
  for (let index = 0; index < text.length; index++) {
    hash = Math.imul(hash ^ text.charCodeAt(index), 0x01000193) >>> 0
  }
  return hash
}
