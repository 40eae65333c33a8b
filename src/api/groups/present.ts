import type { Static } from '@sinclair/typebox'
import type { AccountGroup } from '../../domain/accounts/groups.ts'
import { toETag } from '../shared/etags.ts'
import type { GroupSchema } from './schema.ts'

export function presentGroup(group: AccountGroup): Static<typeof GroupSchema> {
  const { _id: id, name, color, accountIds, createdAt } = group
  return { id, name, color, accountIds, createdAt: createdAt.toISOString(), etag: toETag(group) }
}
