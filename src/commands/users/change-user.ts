import type { Actor, AuditAction, AuditEntry, AuditFacts } from '../../domain/users/audit.ts'
import type { NewNotification } from '../../domain/notifications/notifications.ts'
import { ServiceError } from '../../domain/shared/service-error.ts'
import type { User } from '../../domain/users/user.ts'
import type { NotificationRecord, NotificationStore } from '../../store/notifications/notifications.ts'
import type { UserChange } from '../../store/users/users.ts'
import { newAuditEntry } from '../shared/audit-entry.ts'
import type { CommandContext } from '../context.ts'

type Session = Parameters<NotificationStore['insert']>[1]

interface Change {
  action: AuditAction
  set: UserChange
  /** Fields that the record must still have. */
  condition?: object
  /** The part of the record that the audit log stores, before and after. */
  facts(user: User): AuditFacts
  /** The notification for the user when something changed. */
  notification?(user: User, entry: AuditEntry): NewNotification
  /** Stores what belongs to the change in its transaction, when something changed. */
  storeWith?(changed: { before: User; after: User }, entry: AuditEntry, session: Session): Promise<void>
}

/**
 * Changes another user's record, with an audit log entry and a notification, all or nothing. A call without effect is not
 * logged. An account under erasure counts as gone: no admin can enable it again.
 * @throws ServiceError NOT_FOUND
 */
export async function changeUser(deps: CommandContext, actor: Actor, userId: string, change: Change): Promise<User> {
  let records: NotificationRecord[] = []
  const user = await deps.database.transaction(async (session) => {
    const isErased = await deps.erasures.isBegun(userId, session)
    const changed = isErased ? null : await deps.users.change(userId, change.set, session, change.condition)
    if (!changed) throw new ServiceError('NOT_FOUND', 'User not found')
    const [before, after] = [change.facts(changed.before), change.facts(changed.after)]
    if (JSON.stringify(before) === JSON.stringify(after)) return changed.after
    const entry = newAuditEntry(actor, deps.clock.now(), { action: change.action, subjectId: userId, before, after })
    await deps.audit.insert(entry, session)
    records = await deps.notifications.toRecords(change.notification ? [change.notification(changed.after, entry)] : [])
    await deps.notifications.insert(records, session)
    await change.storeWith?.(changed, entry, session)
    return changed.after
  }, userId)
  deps.notifications.beginSending(records)
  return user
}
