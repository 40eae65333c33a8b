import type { Actor, AuditEntry } from '../../domain/users/audit.ts'
import { newId } from '../../store/shared/schema.ts'

/** Creates an audit log entry for an action of this admin. */
export function newAuditEntry(
  { id, requestId, ipAddress }: Actor,
  at: Date,
  action: Pick<AuditEntry, 'action' | 'subjectId' | 'before' | 'after'>,
): AuditEntry {
  return { _id: newId(), at, actorId: id, ...action, requestId, ipAddress }
}
