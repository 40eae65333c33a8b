import type { SandboxResponse } from '../proxied-platform.ts'
import type { ContainerStore } from '../shared/graph/container-store.ts'
import { badParameter, callerOf, GraphRefusal, noSuchObject } from '../shared/graph/graph.ts'
import { askedMetrics, insightsOf } from '../shared/graph/insights.ts'
import type { MetaCall, MetaModule } from './graph.ts'
import { hasEnded } from './instagram-details.ts'
import type { MetaState } from './state.ts'
import { requireScopes } from './tokens.ts'

/** https://developers.facebook.com/docs/instagram-platform/reference/instagram-media/insights, metrics, read in September 2026. */
const OF_ALL = ['views', 'reach', 'shares', 'total_interactions']
const METRICS = {
  FEED: [...OF_ALL, 'saved', 'likes', 'comments', 'follows', 'profile_activity', 'profile_visits'],
  REELS: [...OF_ALL, 'saved', 'likes', 'comments', 'ig_reels_avg_watch_time', 'ig_reels_video_view_total_time'],
  STORY: [...OF_ALL, 'replies', 'navigation', 'follows', 'profile_activity', 'profile_visits'],
}
/** "Story media metrics with values less than 5 return an error code 10". */
const FEWEST_VIEWERS = 5
const ENGAGEMENT = ['likes', 'comments', 'shares', 'saved']

/** Returns metrics of posts on Instagram; the available ones depend on the kind of post. */
export function instagramInsights({ state, store }: { state: MetaState; store: ContainerStore }): MetaModule['routes'] {
  function ofPost(call: MetaCall): SandboxResponse {
    const caller = callerOf(call)
    const [id = ''] = call.ids
    const post = store.posts.get(id)
    const owner = post && state.instagramAccounts.get(post.accountId)?.personId
    if (!post || owner !== caller.person.id || hasEnded(post)) throw noSuchObject(id, call.method)
    requireScopes(caller, 'instagram_basic', 'instagram_manage_insights', 'pages_read_engagement')
    const metrics = askedMetrics(call.params, [...new Set(Object.values(METRICS).flat())])
    const product = post.isStory ? 'STORY' : post.kind === 'VIDEO' ? 'REELS' : 'FEED'
    const unfit = metrics.find((name) => !METRICS[product].includes(name))
    if (unfit !== undefined) {
      throw badParameter(`The Media Insights API does not support the ${unfit} metric for this media product type.`)
    }
    // Metrics that are not known yet are left out instead of 0.
    if (store.counting.isTooYoung(post)) return insightsOf(id, [], () => 0)
    const reported = store.counting.reported(post)
    if (post.isStory && (reported['views'] ?? 0) < FEWEST_VIEWERS) {
      throw new GraphRefusal({ code: 10, message: '(#10) Not enough viewers for the media to show insights' })
    }
    const all = ENGAGEMENT.reduce((sum, name) => sum + (reported[name] ?? 0), 0)
    return insightsOf(id, metrics, (name) => reported[name] ?? (name === 'total_interactions' ? all : 0))
  }

  return [['GET', /^\/(\d+)\/insights$/, ofPost]]
}
