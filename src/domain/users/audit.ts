import type { MessageType } from '../analytics/collection.ts'
import type { Platform } from '../shared/platforms.ts'
import type { Limits, SubscriptionPlan } from '../billing/subscription.ts'
import type { Role } from './user.ts'

export const AUDIT_ACTIONS = [
  'update-plan',
  'update-limits',
  'update-activity',
  'update-role',
  'replay-dead-letter',
  'read-post',
  'read-posts',
  'read-timeline',
] as const
export type AuditAction = (typeof AUDIT_ACTIONS)[number]

/** Details of an audited action: ids, enum values and numbers, never personal data. */
export interface AuditFacts {
  plan?: SubscriptionPlan
  limits?: Limits
  isDisabled?: boolean
  role?: Role
  /** The post of the user that was read. */
  postId?: string
  deadLetter?: { type: MessageType; platform: Platform; postId: string | null; count: number }
}

/** The admin who acts on another user's record. */
export interface Actor {
  /** A user's id, or `cli` for `npm run admin`. */
  id: string
  requestId: string | null
  ipAddress: string | null
}

export const CLI_ACTOR: Actor = { id: 'cli', requestId: null, ipAddress: null }

/** A change by an admin, or an admin's read access to a user's posts. */
export interface AuditEntry {
  _id: string
  at: Date
  actorId: string
  action: AuditAction
  subjectId: string
  before: AuditFacts
  after: AuditFacts
  requestId: string | null
  /** Null once the actor's account is erased. */
  ipAddress: string | null
}
