import { NO_COUNTS, type PostCounts } from '../../domain/analytics.ts'
import type { CallOptions, Credentials, PostMetrics } from '../adapter.ts'
import { PlatformError } from '../errors.ts'
import { countOf } from '../shared/counts.ts'
import { isRefusedWith } from '../shared/refusals.ts'
import { readCountedStatus, readCountedStatuses, type CountedStatus } from './answers.ts'
import type { Api } from './api.ts'

interface MetricsDeps {
  api: Api
  assertAtHome(account: Credentials): void
  isThere(account: Credentials, options: CallOptions): Promise<boolean>
}

/** The most that a server takes at once. */
const PER_CALL = 20
const STATUSES = '/api/v1/statuses'

/** The counts of posts as the instance knows them: what happens on others it hears of in part. */
export function createMetrics({ api, assertAtHome, isThere }: MetricsDeps): PostMetrics {
  async function read(ids: string[], account: Credentials, options: CallOptions) {
    assertAtHome(account)
    const statuses = ids.length > 1 ? await several(ids, account, options) : []
    const found = new Map<string, PostCounts | 'deleted'>()
    const gone: string[] = []
    for (const id of ids) {
      const status = statuses.find((one) => one.id === id) ?? (await oneOf(id, account, options))
      if (status === 'gone') gone.push(id)
      else found.set(id, countsOf(status))
    }
    // A server that knows nothing of the account any more answers alike about everything.
    if (gone.length > 0 && (await isThere(account, options))) for (const id of gone) found.set(id, 'deleted')
    return found
  }

  /** Those that the server has. None from servers before 4.3, which are asked about one at a time. */
  async function several(ids: string[], account: Credentials, { signal }: CallOptions): Promise<CountedStatus[]> {
    const options = { token: account.accessToken, signal }
    try {
      return (await api.get(STATUSES, { 'id[]': ids }, readCountedStatuses, options)).body
    } catch (error) {
      if (error instanceof PlatformError && (error.class === 'not_found' || error.class === 'validation')) return []
      throw error
    }
  }

  async function oneOf(id: string, account: Credentials, { signal }: CallOptions): Promise<CountedStatus | 'gone'> {
    const options = { token: account.accessToken, signal }
    try {
      return (await api.get(`${STATUSES}/${encodeURIComponent(id)}`, {}, readCountedStatus, options)).body
    } catch (error) {
      if (isRefusedWith(error, 404)) return 'gone'
      throw error
    }
  }

  return { perCall: PER_CALL, read }
}

function countsOf(status: CountedStatus): PostCounts {
  const reblogs = countOf(status.reblogs_count)
  return {
    ...NO_COUNTS,
    likes: countOf(status.favourites_count),
    shares: reblogs === null ? null : reblogs + (countOf(status.quotes_count) ?? 0),
    comments: countOf(status.replies_count),
  }
}
