import type { SandboxResponse } from '../proxied-platform.ts'
import { badParameter, callerOf, GraphRefusal, noSuchObject } from '../shared/graph/graph.ts'
import { insightsOf, type Counting } from '../shared/graph/insights.ts'
import type { MetaCall, MetaModule } from './graph.ts'
import type { MetaState, Page } from './state.ts'
import { countedPost } from './page-nodes.ts'
import { requireToRead } from './tokens.ts'

const OF_POSTS = ['post_media_view', 'post_total_media_view_unique', 'post_clicks', 'post_reactions_by_type_total']
const OF_VIDEOS = ['blue_reels_play_count', 'fb_reels_total_plays', 'post_impressions_unique']
/** Smaller pages have no insights. */
const LEAST_FOLLOWERS = 100

interface PageInsightsDeps {
  state: MetaState
  counting: Counting
  followersOf(page: Page): number
}

/** Returns the views of a page's posts and videos. */
export function createPageInsights({ state, counting, followersOf }: PageInsightsDeps): MetaModule {
  const hasInsights = (page: Page) => followersOf(page) >= LEAST_FOLLOWERS

  function ofPost(call: MetaCall): SandboxResponse {
    const { id, post, page } = postFor(call, call.ids[0]!)
    const metrics = metricsOf(call, OF_POSTS)
    if (!hasInsights(page) || counting.isTooYoung(post)) return insightsOf(id, [], () => 0)
    const { reactions: like = 0, ...reported } = counting.reported(countedPost(post))
    return insightsOf(id, metrics, (name) =>
      name === 'post_reactions_by_type_total' ? (like > 0 ? { like } : {}) : (reported[name] ?? 0),
    )
  }

  /** Plays are a metric of the video itself. */
  function ofVideo(call: MetaCall): SandboxResponse {
    const video = state.videos.get(call.ids[0]!)
    const { id, post, page } = postFor(call, `${video?.pageId}_${video?.id}`)
    const metrics = metricsOf(call, OF_VIDEOS)
    if (!hasInsights(page) || counting.isTooYoung(post)) return insightsOf(id, [], () => 0)
    const { post_media_view: plays = 0, post_total_media_view_unique: people = 0 } = counting.reported(
      countedPost(post),
    )
    return insightsOf(id, metrics, (name) => (name === 'post_impressions_unique' ? people : plays))
  }

  /** @throws GraphRefusal unless the caller may read the post's insights */
  function postFor(call: MetaCall, postId: string) {
    const caller = callerOf(call)
    const [id = ''] = call.ids
    const post = state.posts.get(postId)
    if (!post || caller.page?.id !== post.pageId) throw noSuchObject(id, call.method)
    requireToRead(caller, 'pages_read_engagement', 'read_insights')
    return { id, post, page: caller.page }
  }

  return {
    routes: [
      ['GET', /^\/(\d+_\d+)\/insights$/, ofPost],
      ['GET', /^\/(\d+)\/video_insights$/, ofVideo],
    ],
    node: () => null,
  }
}

function metricsOf({ params }: MetaCall, known: readonly string[]): string[] {
  const metrics = params.list('metric')
  if (metrics.length === 0) {
    throw new GraphRefusal({
      code: 3_001,
      subcode: 1_504_028,
      message: 'Invalid query',
      userTitle: 'No Metric Specified',
      userMessage: 'No metric was specified to be fetched. Please specify one or more metrics to be fetched.',
    })
  }
  if (metrics.some((name) => !known.includes(name))) throw badParameter('The value must be a valid insights metric')
  return metrics
}
