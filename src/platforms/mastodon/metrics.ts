import { NO_COUNTS, type PostCounts } from '../../domain/analytics/analytics.ts'
import { DAY } from '../../domain/shared/times.ts'
import type { CallOptions, Credentials, PostMetrics } from '../contract.ts'
import { countOf, isAnyKnown } from '../shared/counts.ts'
import { foreignStatusOf } from '../shared/foreign-answer.ts'
import { inGroups } from '../shared/in-groups.ts'
import { isRefusedAs, isRefusedWith } from '../shared/refusals.ts'
import { readCountedStatus, readCountedStatuses, type CountedStatus } from './responses.ts'
import type { Api } from './api.ts'
import { isNoAnswerToBeHad } from './errors.ts'

interface MetricsDeps {
  api: Api
  assertAtHome(account: Credentials): void
  isThere(account: Credentials, options: CallOptions): Promise<boolean>
}

/** The most that a server takes at once. */
const PER_CALL = 20
const AT_ONCE = 5
/** How long a server that was too old for that is taken for one. */
const OLD_FOR_MS = DAY
const STATUSES = '/api/v1/statuses'

/** The counts of posts as the instance knows them: what happens on others it hears of in part. */
export function createMetrics({ api, assertAtHome, isThere }: MetricsDeps): PostMetrics {
  let isOldUntil = 0

  async function read(ids: string[], account: Credentials, options: CallOptions) {
    assertAtHome(account)
    const statuses = ids.length > 1 ? await several(ids, account, options) : []
    const found = new Map<string, PostCounts | 'deleted'>()
    const gone: string[] = []
    await inGroups(ids, AT_ONCE, async (id) => {
      const status = statuses.find((one) => one.id === id) ?? (await oneOf(id, account, options))
      const counts = status && countsOf(status)
      if (!counts) gone.push(id)
      else if (isAnyKnown(counts)) found.set(id, counts)
    })
    // A server that knows nothing of the account any more answers alike about everything.
    if (gone.length > 0 && (await isThere(account, options))) for (const id of gone) found.set(id, 'deleted')
    return found
  }

  /** Those that the server has. None from servers before 4.3, which are asked about one at a time. */
  async function several(ids: string[], account: Credentials, { signal }: CallOptions): Promise<CountedStatus[]> {
    if (Date.now() < isOldUntil) return []
    const options = { token: account.accessToken, signal }
    try {
      return (await api.get(STATUSES, { 'id[]': ids }, readCountedStatuses, options)).body
    } catch (error) {
      if (hasNoSuchEndpoint(error)) isOldUntil = Date.now() + OLD_FOR_MS
      else if (!isNoAnswerToBeHad(error)) throw error
      return []
    }
  }

  /** Null when the server itself says that it has none; something on the way may answer 404 as well. */
  async function oneOf(id: string, account: Credentials, { signal }: CallOptions): Promise<CountedStatus | null> {
    const options = { token: account.accessToken, signal }
    try {
      return (await api.get(`${STATUSES}/${encodeURIComponent(id)}`, {}, readCountedStatus, options)).body
    } catch (error) {
      if (isRefusedAs(error, 'missing')) return null
      throw error
    }
  }

  return { perCall: PER_CALL, read }
}

function hasNoSuchEndpoint(error: unknown): boolean {
  const isUnknownMethod = [405, 501].some((status) => isRefusedWith(error, status)) || foreignStatusOf(error) === 405
  return isUnknownMethod || isRefusedAs(error, 'missing')
}

function countsOf(status: CountedStatus): PostCounts {
  // Left out by servers that do not know of quotes.
  const [reblogs, quotes] = [countOf(status.reblogs_count), countOf(status.quotes_count ?? 0)]
  return {
    ...NO_COUNTS,
    likes: countOf(status.favourites_count),
    shares: reblogs === null || quotes === null ? null : reblogs + quotes,
    comments: countOf(status.replies_count),
  }
}
