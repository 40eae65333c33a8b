import { Type } from '@sinclair/typebox'
import { DEFAULT_GROUP_COLOR, MAX_GROUP_ACCOUNTS } from '../../domain/accounts/groups.ts'
import { MAX_NAME_INPUT } from '../../domain/shared/names.ts'
import { ETagField, IfMatchHeader } from '../shared/etags.ts'
import { Instant } from '../shared/schemas/common.ts'

const fields = {
  name: Type.String({
    maxLength: MAX_NAME_INPUT,
    description: '1 to 60 characters, unique among your groups in any letter case',
    examples: ['Northern brand'],
  }),
  color: Type.String({ pattern: '^#[0-9A-Fa-f]{6}$', examples: [DEFAULT_GROUP_COLOR] }),
  accountIds: Type.Array(Type.String({ maxLength: 100 }), {
    maxItems: MAX_GROUP_ACCOUNTS,
    uniqueItems: true,
    description: 'Ids of connected accounts, which may be in several groups. A disconnected account leaves its groups.',
  }),
}

export const CreateGroupBody = Type.Object(
  { name: fields.name, color: Type.Optional(fields.color), accountIds: Type.Optional(fields.accountIds) },
  { title: 'CreateGroup', examples: [{ name: 'Northern brand' }] },
)

export const UpdateGroupBody = Type.Partial(Type.Object(fields), {
  title: 'UpdateGroup',
  examples: [{ name: 'Southern brand' }],
})

export const UpdateGroupHeaders = Type.Object(IfMatchHeader)

export const GroupSchema = Type.Object(
  { id: Type.String(), ...fields, createdAt: Instant, etag: ETagField },
  { title: 'Group' },
)
