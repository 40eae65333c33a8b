import type { Static } from '@sinclair/typebox'
import type { AuditEntry } from '../../domain/audit.ts'
import type { User } from '../../domain/user.ts'
import { presentUser } from '../auth/present.ts'
import type { AuditPage, ChangedUser, UserRecord } from './schema.ts'

/** The full record but for what is nobody's business: password hash, token version. */
export function presentRecord(user: User): Static<typeof UserRecord> {
  return {
    ...presentUser(user),
    isDisabled: user.isDisabled,
    auth: { provider: user.auth.provider },
    createdAt: user.createdAt.toISOString(),
    lastLogin: user.lastLogin?.toISOString() ?? null,
  }
}

export function presentChanged({ _id, email, name, isDisabled }: User): Static<typeof ChangedUser> {
  return { _id, email, name, isDisabled }
}

export function presentEntry(entry: AuditEntry): Static<typeof AuditPage>['data'][number] {
  const { _id, at, actorId, action, subjectId, before, after, requestId, ipAddress } = entry
  return { _id, at: at.toISOString(), actorId, action, subjectId, before, after, requestId, ipAddress }
}
