import type { Static } from '@sinclair/typebox'
import type { AuditEntry } from '../../domain/users/audit.ts'
import type { User } from '../../domain/users/user.ts'
import type { DeadLetter } from '../../store/analytics/dead-letters.ts'
import type { AuditPage, ChangedUser, DeadLetterPage } from './schema.ts'

export function presentChangedUser({ _id, email, name, isDisabled }: User): Static<typeof ChangedUser> {
  return { _id, email, name, isDisabled }
}

export function presentAuditEntry(entry: AuditEntry): Static<typeof AuditPage>['data'][number] {
  const { _id, at, actorId, action, subjectId, before, after, requestId, ipAddress } = entry
  return { _id, at: at.toISOString(), actorId, action, subjectId, before, after, requestId, ipAddress }
}

export function presentDeadLetter(letter: DeadLetter): Static<typeof DeadLetterPage>['data'][number] {
  return { ...letter, firstAt: letter.firstAt.toISOString(), lastAt: letter.lastAt.toISOString() }
}
