import type { PostGroup } from '../posts/post.ts'
import { findNameProblems, normalizeName } from '../shared/names.ts'
import { ServiceError, type Problem } from '../shared/service-error.ts'

export const MAX_GROUPS = 100
/** No more than a post can have. */
export const MAX_GROUP_ACCOUNTS = 50
export const DEFAULT_GROUP_COLOR = '#228be6'

const NAME_LENGTH = { min: 1, max: 60 }
const RECORD_ID = /^[\da-f]{24}$/i

/** A named set of connected accounts, as stored. */
export interface AccountGroup {
  _id: string
  userId: string
  name: string
  /** `toGroupKey` of the name, unique per user. */
  nameKey: string
  /** `#rrggbb` in lower case. */
  color: string
  accountIds: string[]
  /** Incremented by every change, also of the accounts by a disconnection. */
  revision: number
  createdAt: Date
}

/** The fields of a group that its owner chooses. */
export type GroupFields = Pick<AccountGroup, 'name' | 'color' | 'accountIds'>

/** Returns the form in which names are compared: in any letter case. */
export function toGroupKey(name: string): string {
  return normalizeName(name).toLowerCase()
}

/** Returns why a group cannot have this name. No name has the form of an id, so that a text means one group at most. */
export function findGroupNameProblems(name: string): Problem[] {
  if (!RECORD_ID.test(normalizeName(name))) return findNameProblems(name, NAME_LENGTH)
  return [{ path: 'name', code: 'NAME_NOT_ALLOWED', message: 'The name looks like an id. Choose another one.' }]
}

/** Returns the stored form of the fields that a request gives. */
export function normalizeGroup({
  name,
  color,
  ...fields
}: Partial<GroupFields>): Partial<GroupFields & Pick<AccountGroup, 'nameKey'>> {
  return {
    ...fields,
    ...(name !== undefined && { name: normalizeName(name), nameKey: toGroupKey(name) }),
    ...(color !== undefined && { color: color.toLowerCase() }),
  }
}

/**
 * Returns the groups that ids or names mean, each once, with their present accounts.
 * @param path of the names in the request
 * @param recorded groups that keep the accounts with which they were recorded, also when they have changed or are gone
 */
export function resolveGroups(
  groups: readonly AccountGroup[],
  names: readonly string[],
  { path, recorded = [] }: { path: string; recorded?: readonly PostGroup[] | undefined },
): { found: PostGroup[]; problems: Problem[] } {
  const known = [
    ...recorded.map((group) => ({ group, key: toGroupKey(group.name) })),
    ...groups.map(({ _id: id, name, nameKey: key, accountIds }) => ({ group: { id, name, accountIds }, key })),
  ]
  const found = new Map<string, PostGroup>()
  const problems = names.flatMap((name, index): Problem[] => {
    const wanted = toGroupKey(name)
    const { group } = known.find((one) => one.group.id === name || one.key === wanted) ?? {}
    if (group && !found.has(group.id)) found.set(group.id, group)
    const message = `You have no group ${JSON.stringify(name)}. Use the id or the name of one of your groups.`
    return group ? [] : [{ path: `${path}.${index}`, code: 'GROUP_NOT_FOUND', message }]
  })
  return { found: [...found.values()], problems }
}

export function groupNotFound(): ServiceError {
  return new ServiceError('NOT_FOUND', 'Group not found')
}

export function groupNameTaken(cause: unknown): ServiceError {
  const message = 'You have another group with this name. Choose another name.'
  return new ServiceError('GROUP_NAME_TAKEN', message, { cause })
}

export function groupLimitReached(): ServiceError {
  const message = `You have ${MAX_GROUPS} groups. Delete one that you no longer need.`
  return new ServiceError('GROUP_LIMIT_REACHED', message, { details: { limit: MAX_GROUPS } })
}
