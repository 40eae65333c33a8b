import { Type } from '@sinclair/typebox'
import type { PostCounts } from '../../../domain/analytics/analytics.ts'
import type { PlatformErrorClass } from '../../../domain/posts/failure.ts'
import { SECOND } from '../../../domain/shared/times.ts'
import type { CallOptions, Credentials, PlatformAdapter } from '../../contract.ts'
import { responseReader } from '../responses.ts'
import { hasAnyCount } from '../counts.ts'
import type { GraphApi } from './api.ts'
import { isCertainlyMissing, isErrorClass, requireVisibleAccount } from './errors.ts'
import type { ReadCall } from './insights.ts'
import { isPresent } from './presence.ts'

interface GraphMetricsOptions {
  api: GraphApi
  /** The last path segment of the account's own posts. */
  listPath: string
  fetchCounts(id: string, account: Credentials, call: ReadCall): Promise<PostCounts>
  fetchFollowers(account: Credentials, call: ReadCall): Promise<number | null>
  /** Returns all ids of a post; by default its id alone. */
  listIds?(id: string, account: Credentials): string[]
}

/** Short, so that one slow call does not delay the collection. The next collection retries. */
const TIMEOUT_MS = 10 * SECOND

const readList = responseReader(Type.Object({ data: Type.Array(Type.Unknown()) }))

/** Reads the counts of posts and accounts on hosts of the Graph API. */
export function createGraphMetrics(
  deps: GraphMetricsOptions,
): Required<Pick<PlatformAdapter, 'metrics' | 'followers'>> {
  const { api, listPath, fetchCounts, fetchFollowers, listIds = (id) => [id] } = deps

  async function read(ids: string[], account: Credentials, options: CallOptions) {
    const call = toReadCall(account, options)
    const found = new Map<string, PostCounts | 'deleted'>()
    for (const id of ids) {
      const counts = await fetchCounts(id, account, call).catch(async (error: unknown) => {
        if (!isCertainlyMissing(error)) throw error
        return (await isDeleted(id, account, call)) ? ('deleted' as const) : null
      })
      if (counts === 'deleted' || (counts && hasAnyCount(counts))) found.set(id, counts)
    }
    return found
  }

  /**
   * Returns whether a post is deleted. A login without access gets the same error, so the login must still see the
   * account's posts.
   */
  async function isDeleted(id: string, account: Credentials, call: ReadCall): Promise<boolean> {
    for (const one of listIds(id, account)) if (await isPresent(api, one, call)) return false
    const path = `/${encodeURIComponent(account.accountId)}/${listPath}`
    await requireVisibleAccount(api.label, api.get(path, { fields: 'id', limit: '1' }, readList, call))
    return true
  }

  return {
    // Insights are reported for one post per call.
    metrics: { perCall: 1, read },
    followers: (account, options) =>
      requireVisibleAccount(api.label, fetchFollowers(account, toReadCall(account, options))),
  }
}

function toReadCall({ accessToken: token }: Credentials, { signal }: CallOptions): ReadCall {
  return { token, signal, timeoutMs: TIMEOUT_MS }
}

/**
 * Sends the requests in order until one is not refused. One unsupported metric makes hosts refuse a whole request.
 * The error of the last request is thrown.
 */
export async function requestFirstAccepted<T>(
  requests: readonly string[],
  refusedAs: PlatformErrorClass,
  send: (request: string) => Promise<T>,
): Promise<T> {
  const [request = '', ...smaller] = requests
  try {
    return await send(request)
  } catch (error) {
    if (smaller.length === 0 || !isErrorClass(error, refusedAs)) throw error
    return requestFirstAccepted(smaller, refusedAs, send)
  }
}

/** Returns `null` where the platform has no such data for this post. */
export async function nullIfUnsupported<T>(response: Promise<T>): Promise<T | null> {
  try {
    return await response
  } catch (error) {
    if (isCertainlyMissing(error) || isErrorClass(error, 'validation')) return null
    throw error
  }
}
