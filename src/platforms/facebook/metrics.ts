import type { PostCounts } from '../../domain/analytics.ts'
import { DAY } from '../../domain/times.ts'
import type { Credentials } from '../adapter.ts'
import { countOf } from '../shared/counts.ts'
import type { GraphApi } from '../shared/graph/api.ts'
import { isOfClass } from '../shared/graph/errors.ts'
import { readInsights, type Insights, type ReadCall } from '../shared/graph/insights.ts'
import { createGraphMetrics, firstTaken, unlessRefused } from '../shared/graph/metrics.ts'
import { readFollowers, readReactions } from './answers.ts'

const REACTIONS = 'reactions.limit(0).summary(total_count)'
/** Largest first: what people wrote may take a permission that is not asked for. */
const FIELDS = [`${REACTIONS},shares,comments.limit(0).summary(total_count)`, `${REACTIONS},shares`]

/** https://developers.facebook.com/docs/platforminsights/page; largest first, since some pages have no count of views. */
const VIEWS = 'post_media_view'
const VIEWERS = 'post_total_media_view_unique'
const METRICS = [`${VIEWS},${VIEWERS}`, VIEWERS]

const MOST_REMEMBERED = 10_000

/** Videos are on record by their own id; the counts are those of the post that shows one. */
const postOf = (id: string, { accountId }: Credentials) => (id.includes('_') ? id : `${accountId}_${id}`)

/** What readers did stands in the post; how many saw it is in its insights, for which `read_insights` is needed (platforms.md 5f). */
export function createMetrics(api: GraphApi) {
  /** When insights are worth a call again, by the login that was refused them: calls that are refused count against the page's limit. */
  const refusedUntil = new Map<string, number>()

  return createGraphMetrics({
    api,
    listPath: 'published_posts',
    countsOf,
    followersOf,
    idsOf: (id, account) => [...new Set([postOf(id, account), id])],
  })

  async function countsOf(id: string, account: Credentials, call: ReadCall): Promise<PostCounts> {
    const path = `/${encodeURIComponent(postOf(id, account))}`
    const told = await firstTaken(FIELDS, 'permission', (fields) => api.get(path, { fields }, readReactions, call))
    const likes = countOf(told.reactions?.summary?.total_count)
    const seen = await insights(path, account, call)
    return {
      likes,
      // Left out where there is none.
      shares: told.shares ? countOf(told.shares.count) : likes === null ? null : 0,
      comments: countOf(told.comments?.summary?.total_count),
      impressions: seen?.(VIEWS) ?? null,
      reach: seen?.(VIEWERS) ?? null,
      saved: null,
    }
  }

  async function insights(path: string, account: Credentials, call: ReadCall): Promise<Insights | null> {
    const login = `${account.accountId}/${account.version}`
    if (Date.now() < (refusedUntil.get(login) ?? 0)) return null
    const asked = firstTaken(METRICS, 'validation', (metrics) => readInsights(api, `${path}/insights`, metrics, call))
    return unlessRefused(
      asked.catch((error: unknown) => {
        if (isOfClass(error, 'permission')) rememberRefusal(login)
        throw error
      }),
    )
  }

  function rememberRefusal(login: string): void {
    if (refusedUntil.size >= MOST_REMEMBERED) refusedUntil.clear()
    refusedUntil.set(login, Date.now() + DAY)
  }

  async function followersOf({ accountId }: Credentials, call: ReadCall): Promise<number | null> {
    const path = `/${encodeURIComponent(accountId)}`
    const page = await api.get(path, { fields: 'followers_count,fan_count' }, readFollowers, call)
    return countOf(page.followers_count) ?? countOf(page.fan_count)
  }
}
