import type { PostCounts } from '../../domain/analytics/analytics.ts'
import type { Credentials } from '../contract.ts'
import { parseCount } from '../shared/counts.ts'
import { createPermissionFallback } from '../shared/graph/allowances.ts'
import type { GraphApi } from '../shared/graph/api.ts'
import { readInsights, type Insights, type ReadCall } from '../shared/graph/insights.ts'
import { createGraphMetrics, requestFirstAccepted, nullIfUnsupported } from '../shared/graph/metrics.ts'
import { readFollowers, readReactions } from './responses.ts'

const REACTIONS = 'reactions.limit(0).summary(total_count)'
/** Reading comments takes an app permission that the login does not request by default. */
const FIELDS = [`${REACTIONS},shares,comments.limit(0).summary(total_count)`, `${REACTIONS},shares`, 'shares']

/** https://developers.facebook.com/docs/platforminsights/page */
const VIEWS = 'post_media_view'
const VIEWERS = 'post_total_media_view_unique'
const LIKES = 'post_reactions_by_type_total'
/**
 * The metrics to request, the largest list first. Some pages have no count of views, and one unsupported metric makes Facebook refuse
 * the whole request.
 */
const METRICS = [`${VIEWS},${VIEWERS},${LIKES}`, `${VIEWERS},${LIKES}`, VIEWERS]
/**
 * The metrics of a video that is shown as a reel
 * (https://developers.facebook.com/blog/post/2022/12/15/introducing-reels-metrics-api/).
 */
const PLAYS = 'blue_reels_play_count'
const PLAYED_TO = 'post_impressions_unique'

const NO_VIEWS = { impressions: null, reach: null, likes: null }
type Views = Record<keyof typeof NO_VIEWS, number | null>

const isVideo = (id: string) => !id.includes('_')
/** Videos are stored by their own id; the counts belong to the post that shows the video. */
const toPostId = (id: string, { accountId }: Credentials) => (isVideo(id) ? `${accountId}_${id}` : id)

/** Reads reactions from the post, and views from its insights, which require `read_insights`. */
export function createMetrics(api: GraphApi) {
  const withFields = createPermissionFallback(FIELDS)
  const withInsights = createPermissionFallback([true, false])

  return createGraphMetrics({
    api,
    listPath: 'published_posts',
    fetchCounts,
    fetchFollowers,
    listIds: (id, account) => [...new Set([toPostId(id, account), id])],
  })

  async function fetchCounts(id: string, account: Credentials, call: ReadCall): Promise<PostCounts> {
    const path = toPath(toPostId(id, account))
    const reported = await withFields(account, (fields) => fetchReactions(path, fields, call))
    const views = await withInsights(account, async (isAllowed) => (isAllowed ? fetchViews(id, path, call) : NO_VIEWS))
    return {
      ...reported,
      likes: reported.likes ?? views.likes,
      impressions: views.impressions,
      reach: views.reach,
      saved: null,
    }
  }

  async function fetchReactions(path: string, fields: string, call: ReadCall) {
    const { reactions, comments, shares } = await api.get(path, { fields }, readReactions, call)
    const likes = parseCount(reactions?.summary?.total_count)
    // Facebook omits shares when there are none. A response that omits more says nothing about shares.
    const sharesIfOmitted = fields.includes(REACTIONS) && likes === null ? null : 0
    return {
      likes,
      shares: shares ? parseCount(shares.count) : sharesIfOmitted,
      comments: parseCount(comments?.summary?.total_count),
    }
  }

  async function fetchViews(id: string, path: string, call: ReadCall): Promise<Views> {
    const request = (metrics: string) => readInsights(api, `${path}/insights`, metrics, call)
    const reported = await nullIfUnsupported(requestFirstAccepted(METRICS, 'validation', request))
    const views = {
      impressions: reported?.(VIEWS) ?? null,
      reach: reported?.(VIEWERS) ?? null,
      likes: reported?.(LIKES) ?? null,
    }
    if (!isVideo(id) || views.impressions !== null || views.reach !== null) return views
    const plays = await nullIfUnsupported(fetchPlays(id, call))
    return { ...views, impressions: plays?.(PLAYS) ?? null, reach: plays?.(PLAYED_TO) ?? null }
  }

  function fetchPlays(id: string, call: ReadCall): Promise<Insights> {
    return readInsights(api, `${toPath(id)}/video_insights`, `${PLAYS},${PLAYED_TO}`, call)
  }

  async function fetchFollowers({ accountId }: Credentials, call: ReadCall): Promise<number | null> {
    const fields = 'followers_count,fan_count'
    const page = await api.get(toPath(accountId), { fields }, readFollowers, call)
    return parseCount(page.followers_count) ?? parseCount(page.fan_count)
  }
}

const toPath = (id: string) => `/${encodeURIComponent(id)}`
