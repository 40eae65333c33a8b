import { findRangeProblem } from '../../domain/posts/day-counts.ts'
import { validationFailed, type Problem } from '../../domain/shared/service-error.ts'
import { findTimezoneProblem, parseRangeBound } from '../../domain/shared/timezones.ts'
import type { PostFilter } from '../../store/posts/post-lists.ts'
import type { RangeQueryFields, PostFilters } from './schemas/list.ts'

/**
 * Converts the query parameters that select posts. Whatever names accounts becomes `accountIds` here, and only here.
 * @param timezone the timezone of dates without a time
 * @throws ServiceError VALIDATION_FAILED with every bound that is not a date
 */
export function parseFilters(
  { status, platform, accounts, source, client, q, ...range }: PostFilters,
  timezone: string,
): PostFilter {
  return {
    ...parseRange(range, timezone),
    ...(status && { statuses: status }),
    ...(platform && { platform }),
    ...(accounts && { accountIds: accounts }),
    ...(source && { source }),
    ...(client && { clients: client }),
    ...(q !== undefined && { search: q }),
  }
}

/**
 * Converts the query parameters that select the posts of a range.
 * @param timezone the timezone of dates without a time
 * @throws ServiceError VALIDATION_FAILED for an unknown timezone, and for a range that is too long or ends before it begins
 */
export function parseRangeQuery(query: RangeQueryFields, timezone: string): PostFilter & { from: Date; to: Date } {
  const unknown = findTimezoneProblem(timezone)
  if (unknown) throw validationFailed([unknown])
  const filter = parseFilters(query, timezone) as PostFilter & { from: Date; to: Date }
  const problem = findRangeProblem(filter)
  if (problem) throw validationFailed([problem])
  return filter
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
