import { findGroupAccounts } from '../../commands/accounts/find-group-accounts.ts'
import { findRangeProblem, MAX_RANGE_DAYS } from '../../domain/posts/day-counts.ts'
import { validationFailed, type Problem } from '../../domain/shared/service-error.ts'
import { findTimezoneProblem, parseRangeBound } from '../../domain/shared/timezones.ts'
import type { PostFilter } from '../../store/posts/post-lists.ts'
import type { RangeQueryFields, PostFilters } from './schemas/list.ts'

type Deps = Parameters<typeof findGroupAccounts>[0]

/**
 * Converts the query parameters that select a user's posts. Whatever names accounts becomes `accountIds` here, and only here.
 * @param timezone the timezone of dates without a time
 * @throws ServiceError VALIDATION_FAILED with every bound that is not a date, or for an unknown group
 */
export async function toPostFilter(
  deps: Deps,
  userId: string,
  { status, unresolved, platform, accounts, group, source, client, q, ...range }: PostFilters,
  timezone: string,
): Promise<PostFilter> {
  const parsed = parseRange(range, timezone)
  const accountIds = await findFilteredAccounts(deps, userId, {
    ...(accounts && { accounts }),
    ...(group && { group }),
  })
  return {
    ...parsed,
    ...(status && { statuses: status }),
    ...(unresolved && { isUnresolved: true }),
    ...(platform && { platform }),
    ...(accountIds && { accountIds }),
    ...(source && { source }),
    ...(client && { clients: client }),
    ...(q !== undefined && { search: q }),
  }
}

/**
 * Returns the accounts that a filter means, each once; undefined without such a filter.
 * @throws ServiceError VALIDATION_FAILED for an unknown group
 */
export async function findFilteredAccounts(
  deps: Deps,
  userId: string,
  { accounts, group }: Pick<PostFilters, 'accounts' | 'group'>,
): Promise<string[] | undefined> {
  if (!group) return accounts
  const ofGroups = await findGroupAccounts(deps, userId, group, 'group')
  return [...new Set([...(accounts ?? []), ...ofGroups])]
}

/**
 * Converts the query parameters that select the posts of a range.
 * @param timezone the timezone of dates without a time
 * @throws ServiceError VALIDATION_FAILED for an unknown timezone or group, and for a range that is too long or ends before it begins
 */
export async function toRangeFilter(
  deps: Deps,
  userId: string,
  query: RangeQueryFields,
  timezone: string,
): Promise<PostFilter & { from: Date; to: Date }> {
  const range = readRange(query, timezone)
  return { ...(await toPostFilter(deps, userId, query, timezone)), ...range }
}

/**
 * Converts the bounds of a range that a request has to name.
 * @param maxDays of the range
 * @throws ServiceError VALIDATION_FAILED for an unknown timezone, and for a range that is too long or ends before it begins
 */
export function readRange(
  query: Record<'from' | 'to', string>,
  timezone: string,
  maxDays = MAX_RANGE_DAYS,
): { from: Date; to: Date } {
  const unknown = findTimezoneProblem(timezone)
  if (unknown) throw validationFailed([unknown])
  const range = parseRange(query, timezone) as { from: Date; to: Date }
  const problem = findRangeProblem(range, maxDays)
  if (problem) throw validationFailed([problem])
  return range
}

/**
 * Parses the bounds of a range of dates.
 * @throws ServiceError VALIDATION_FAILED with every bound that is not a date
 */
export function parseRange(query: Pick<PostFilters, 'from' | 'to'>, timezone: string): Pick<PostFilter, 'from' | 'to'> {
  const problems: Problem[] = []
  const bound = (path: 'from' | 'to') => {
    const value = query[path]
    if (value === undefined) return {}
    const instant = parseRangeBound(value, timezone, path === 'from' ? 'start' : 'end')
    if (instant) return { [path]: instant }
    const message = `${path} must be a date such as 2026-05-01, or a date-time such as 2026-05-01T09:30:00Z.`
    problems.push({ path, code: 'DATE_TIME_INVALID', message })
    return {}
  }
  const range = { ...bound('from'), ...bound('to') }
  if (problems.length > 0) throw validationFailed(problems)
  return range
}
