import { sumKnown, type PostCounts } from '../../domain/analytics/analytics.ts'
import type { Credentials } from '../contract.ts'
import type { GraphApi } from '../shared/graph/api.ts'
import { readInsights, type ReadCall } from '../shared/graph/insights.ts'
import { createGraphMetrics, requestFirstAccepted } from '../shared/graph/metrics.ts'

/**
 * The metrics to request, the largest list first: `shares` is new and `views` is unfinished
 * (https://developers.facebook.com/docs/threads/insights).
 */
const METRICS = [
  'views,likes,replies,reposts,quotes,shares',
  'views,likes,replies,reposts,quotes',
  'likes,replies,reposts,quotes',
]

export function createMetrics(api: GraphApi) {
  return createGraphMetrics({ api, listPath: 'threads', fetchCounts, fetchFollowers })

  /** Threads reports no counts for reposts. */
  async function fetchCounts(id: string, _: Credentials, call: ReadCall): Promise<PostCounts> {
    const path = `/${encodeURIComponent(id)}/insights`
    const reported = await requestFirstAccepted(METRICS, 'validation', (metrics) =>
      readInsights(api, path, metrics, call),
    )
    return {
      likes: reported('likes'),
      shares: sumKnown([reported('reposts'), reported('quotes'), reported('shares')]),
      comments: reported('replies'),
      impressions: reported('views'),
      reach: null,
      saved: null,
    }
  }

  async function fetchFollowers({ accountId }: Credentials, call: ReadCall): Promise<number | null> {
    const path = `/${encodeURIComponent(accountId)}/threads_insights`
    return (await readInsights(api, path, 'followers_count', call))('followers_count')
  }
}
