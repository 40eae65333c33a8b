import type { Answer } from '../fault-proxy.ts'
import { badParameter, callerOf, GraphRefusal, noSuchObject } from '../shared/graph/graph.ts'
import { insightsOf, type Counting } from '../shared/graph/insights.ts'
import type { MetaCall, MetaModule } from './graph.ts'
import type { MetaState } from './state.ts'
import { requireScopes } from './tokens.ts'

const METRICS = ['post_media_view', 'post_total_media_view_unique', 'post_clicks', 'post_reactions_by_type_total']
/** Smaller pages have no insights. */
const LEAST_FOLLOWERS = 100

/** How many saw the posts of a page (platforms.md 5f). */
export function createPageInsights({ state, counting }: { state: MetaState; counting: Counting }): MetaModule {
  function ofPost(call: MetaCall): Answer {
    const caller = callerOf(call)
    const [id = ''] = call.ids
    const post = state.posts.get(id)
    if (!post || caller.page?.id !== post.pageId) throw noSuchObject(id, call.method)
    requireScopes(caller, 'pages_read_engagement', 'read_insights')
    const metrics = call.params.list('metric')
    if (metrics.length === 0) {
      throw new GraphRefusal({
        code: 3_001,
        subcode: 1_504_028,
        message: 'Invalid query',
        userTitle: 'No Metric Specified',
        userMessage: 'No metric was specified to be fetched. Please specify one or more metrics to be fetched.',
      })
    }
    if (metrics.some((name) => !METRICS.includes(name))) {
      throw badParameter('The value must be a valid insights metric')
    }
    const hasInsights = (caller.page.metrics?.['followers'] ?? 0) >= LEAST_FOLLOWERS
    if (!hasInsights || counting.isTooYoung(post)) return insightsOf(id, [], () => 0)
    const { reactions: like = 0, ...told } = counting.told(post.counted)
    return insightsOf(id, metrics, (name) =>
      name === 'post_reactions_by_type_total' ? (like > 0 ? { like } : {}) : (told[name] ?? 0),
    )
  }

  return { routes: [['GET', /^\/(\d+_\d+)\/insights$/, ofPost]], node: () => null }
}
