import type { MessageType } from '../analytics/collection.ts'
import type { Platform } from '../shared/platforms.ts'
import type { Limits, SubscriptionPlan } from '../billing/subscription.ts'
import type { Role } from './user.ts'

export const AUDIT_ACTIONS = [
  'update-plan',
  'update-activity',
  'update-role',
  'replay-dead-letter',
  'read-post',
  'read-timeline',
] as const
export type AuditAction = (typeof AUDIT_ACTIONS)[number]

/** What a change of a user's record is about: ids, words of ours and figures, never anything personal. */
export interface AuditFacts {
  plan?: SubscriptionPlan
  limits?: Limits
  isDisabled?: boolean
  role?: Role
  /** The post of the user that was read. */
  postId?: string
  deadLetter?: { type: MessageType; platform: Platform; postId: string | null; count: number }
}

/** Who changes a record of somebody else. */
export interface Actor {
  /** A user's id, or `cli` for whoever runs `npm run admin`. */
  id: string
  requestId: string | null
  ipAddress: string | null
}

export const CLI_ACTOR: Actor = { id: 'cli', requestId: null, ipAddress: null }

/** One change by an admin, or one read of a user's post: who, what, whom, before and after. */
export interface AuditEntry {
  _id: string
  at: Date
  actorId: string
  action: AuditAction
  subjectId: string
  before: AuditFacts
  after: AuditFacts
  requestId: string | null
  /** Gone once the actor's account is erased. */
  ipAddress: string | null
}
