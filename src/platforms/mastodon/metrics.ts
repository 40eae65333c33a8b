import { NO_COUNTS, type PostCounts } from '../../domain/analytics/analytics.ts'
import { DAY } from '../../domain/shared/times.ts'
import type { CallOptions, Credentials, PostMetrics } from '../contract.ts'
import { parseCount, hasAnyCount } from '../shared/counts.ts'
import { getForeignStatus } from '../shared/foreign-response.ts'
import { mapInGroups } from '../shared/map-in-groups.ts'
import { isRefusedAs, isRefusedWith } from '../shared/refusals.ts'
import { readCountedStatus, readCountedStatuses, type CountedStatus } from './responses.ts'
import type { Api } from './api.ts'
import { isFinalRefusal } from './errors.ts'

interface MetricsDeps {
  api: Api
  isAccountPresent(account: Credentials, options: CallOptions): Promise<boolean>
}

/** The maximum number of ids per call. */
export const STATUSES_PER_CALL = 20
const CONCURRENCY = 5
/** How long a server without the batch endpoint is read one status at a time. */
const SINGLE_CALLS_MS = DAY
const STATUSES = '/api/v1/statuses'

/** Reads the counts that the instance knows. It receives activity on other instances only in part. */
export function createMetrics({ api, isAccountPresent }: MetricsDeps): Pick<PostMetrics, 'read'> {
  let singleCallsUntil = 0

  async function read(ids: string[], account: Credentials, options: CallOptions) {
    const statuses = ids.length > 1 ? await fetchStatuses(ids, account, options) : []
    const found = new Map<string, PostCounts | 'deleted'>()
    const gone: string[] = []
    await mapInGroups(ids, CONCURRENCY, async (id) => {
      const status = statuses.find((one) => one.id === id) ?? (await fetchStatus(id, account, options))
      const counts = status && toCounts(status)
      if (!counts) gone.push(id)
      else if (hasAnyCount(counts)) found.set(id, counts)
    })
    // A server that no longer knows the account answers the same for all posts.
    if (gone.length > 0 && (await isAccountPresent(account, options))) for (const id of gone) found.set(id, 'deleted')
    return found
  }

  /** Returns the statuses that the server has; none from servers before 4.3, which are read one at a time. */
  async function fetchStatuses(ids: string[], account: Credentials, { signal }: CallOptions): Promise<CountedStatus[]> {
    if (Date.now() < singleCallsUntil) return []
    const options = { token: account.accessToken, signal }
    try {
      return (await api.get(STATUSES, { 'id[]': ids }, readCountedStatuses, options)).body
    } catch (error) {
      if (isEndpointMissing(error)) singleCallsUntil = Date.now() + SINGLE_CALLS_MS
      else if (!isFinalRefusal(error)) throw error
      return []
    }
  }

  /** Returns `null` when the server itself reports the status as missing; a proxy may send a 404 as well. */
  async function fetchStatus(id: string, account: Credentials, { signal }: CallOptions): Promise<CountedStatus | null> {
    const options = { token: account.accessToken, signal }
    try {
      return (await api.get(`${STATUSES}/${encodeURIComponent(id)}`, {}, readCountedStatus, options)).body
    } catch (error) {
      if (isRefusedAs(error, 'missing')) return null
      throw error
    }
  }

  return { read }
}

function isEndpointMissing(error: unknown): boolean {
  const isUnknownMethod = [405, 501].some((status) => isRefusedWith(error, status)) || getForeignStatus(error) === 405
  return isUnknownMethod || isRefusedAs(error, 'missing')
}

function toCounts(status: CountedStatus): PostCounts {
  // Absent on servers without quotes.
  const [reblogs, quotes] = [parseCount(status.reblogs_count), parseCount(status.quotes_count ?? 0)]
  return {
    ...NO_COUNTS,
    likes: parseCount(status.favourites_count),
    shares: reblogs === null || quotes === null ? null : reblogs + quotes,
    comments: parseCount(status.replies_count),
  }
}
