import { validationFailed, type Problem } from '../../domain/shared/service-error.ts'
import { parseRangeBound } from '../../domain/shared/timezones.ts'
import type { PostQuery } from '../../store/posts/post-lists.ts'
import type { ListQuery } from './schemas/list.ts'

/**
 * Converts the query parameters of the post list to filters and an order.
 * @param timezone the timezone of the user, for dates without a time
 * @throws ServiceError VALIDATION_FAILED with every bound that is not a date
 */
export function parsePostQuery(query: ListQuery, timezone: string): Omit<PostQuery, 'page' | 'limit'> {
  const { q, sortBy, sortOrder } = query
  return {
    sortBy,
    sortOrder,
    ...parseFilters(query, timezone),
    ...(q === undefined ? {} : { search: q }),
  }
}

/**
 * Converts the filters that the list and the export share.
 * @throws ServiceError VALIDATION_FAILED with every bound that is not a date
 */
export function parseFilters(
  { status, platform, account, ...query }: Pick<ListQuery, 'status' | 'platform' | 'account' | 'from' | 'to'>,
  timezone: string,
): Pick<PostQuery, 'statuses' | 'platform' | 'accountId' | 'from' | 'to'> {
  return {
    ...parseRange(query, timezone),
    ...(status && { statuses: status }),
    ...(platform && { platform }),
    ...(account !== undefined && { accountId: account }),
  }
}

/**
 * Parses the bounds of a range of dates.
 * @throws ServiceError VALIDATION_FAILED with every bound that is not a date
 */
export function parseRange(query: Pick<ListQuery, 'from' | 'to'>, timezone: string): Pick<PostQuery, 'from' | 'to'> {
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
