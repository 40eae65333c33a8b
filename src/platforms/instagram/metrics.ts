import { Type } from '@sinclair/typebox'
import { NO_COUNTS, type PostCounts } from '../../domain/analytics/analytics.ts'
import type { Credentials } from '../contract.ts'
import { responseReader } from '../shared/responses.ts'
import { parseCount } from '../shared/counts.ts'
import type { GraphApi } from '../shared/graph/api.ts'
import { isErrorClass } from '../shared/graph/errors.ts'
import { readInsights, type ReadCall } from '../shared/graph/insights.ts'
import { createGraphMetrics, requestFirstAccepted, nullIfUnsupported } from '../shared/graph/metrics.ts'

/**
 * The metrics to request, the largest list first: the metrics of each kind of post change between versions
 * (https://developers.facebook.com/docs/instagram-platform/reference/instagram-media/insights).
 */
const METRICS = [
  'views,reach,saved,likes,comments,shares',
  'views,reach,saved,likes,comments',
  // Of stories.
  'views,reach,shares,replies',
  'reach,saved',
]

/** https://developers.facebook.com/docs/instagram-platform/instagram-graph-api/reference/ig-media */
const readPost = responseReader(
  Type.Object({
    id: Type.String(),
    like_count: Type.Optional(Type.Unknown()),
    comments_count: Type.Optional(Type.Unknown()),
  }),
)

/** https://developers.facebook.com/docs/instagram-platform/instagram-graph-api/reference/ig-user */
const readAccount = responseReader(Type.Object({ id: Type.String(), followers_count: Type.Optional(Type.Unknown()) }))

export function createMetrics(api: GraphApi) {
  return createGraphMetrics({ api, listPath: 'media', fetchCounts, fetchFollowers })

  /** Insights require their own permission and arrive late; likes and comments are also fields of the post. */
  async function fetchCounts(id: string, _: Credentials, call: ReadCall): Promise<PostCounts> {
    const path = `/${encodeURIComponent(id)}`
    const counts = (await fetchInsights(path, call)) ?? NO_COUNTS
    if (counts.likes !== null && counts.comments !== null) return counts
    const fields = 'like_count,comments_count'
    const { like_count: likes, comments_count: comments } = await api.get(path, { fields }, readPost, call)
    return { ...counts, likes: counts.likes ?? parseCount(likes), comments: counts.comments ?? parseCount(comments) }
  }

  async function fetchInsights(path: string, call: ReadCall): Promise<PostCounts | null> {
    const request = (metrics: string) => readInsights(api, `${path}/insights`, metrics, call)
    const reported = await nullIfUnsupported(requestFirstAccepted(METRICS, 'validation', request)).catch(
      nullWhereNotAllowed,
    )
    return (
      reported && {
        likes: reported('likes'),
        shares: reported('shares'),
        comments: reported('comments') ?? reported('replies'),
        impressions: reported('views'),
        reach: reported('reach'),
        saved: reported('saved'),
      }
    )
  }

  async function fetchFollowers({ accountId }: Credentials, call: ReadCall): Promise<number | null> {
    const path = `/${encodeURIComponent(accountId)}`
    return parseCount((await api.get(path, { fields: 'followers_count' }, readAccount, call)).followers_count)
  }
}

/** Returns null for a refused permission. The refusal is not cached, because the platform also refuses some kinds of post this way. */
function nullWhereNotAllowed(error: unknown): null {
  if (isErrorClass(error, 'permission')) return null
  throw error
}
