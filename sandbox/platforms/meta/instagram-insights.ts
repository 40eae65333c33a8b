import type { SandboxResponse } from '../proxied-platform.ts'
import type { ContainerStore } from '../shared/graph/container-store.ts'
import { badParameter, callerOf, noSuchObject } from '../shared/graph/graph.ts'
import { askedMetrics, insightsOf } from '../shared/graph/insights.ts'
import type { MetaCall, MetaModule } from './graph.ts'
import type { MetaState } from './state.ts'
import { requireScopes } from './tokens.ts'

const OF_ALL = ['views', 'reach', 'saved', 'likes', 'comments', 'shares', 'total_interactions']
const OF_FEED = ['follows', 'profile_activity', 'profile_visits']
const OF_REELS = ['ig_reels_avg_watch_time', 'ig_reels_video_view_total_time']
const ENGAGEMENT = ['likes', 'comments', 'shares', 'saved']

/** Returns metrics of posts on Instagram; the available ones depend on the kind of post. */
export function instagramInsights({ state, store }: { state: MetaState; store: ContainerStore }): MetaModule['routes'] {
  function ofPost(call: MetaCall): SandboxResponse {
    const caller = callerOf(call)
    const [id = ''] = call.ids
    const post = store.posts.get(id)
    const owner = post && state.instagramAccounts.get(post.accountId)?.personId
    if (!post || owner !== caller.person.id) throw noSuchObject(id, call.method)
    requireScopes(caller, 'instagram_basic', 'instagram_manage_insights', 'pages_read_engagement')
    const metrics = askedMetrics(call.params, [...OF_ALL, ...OF_FEED, ...OF_REELS])
    const unfit = metrics.find((name) => (post.kind === 'VIDEO' ? OF_FEED : OF_REELS).includes(name))
    if (unfit !== undefined) {
      throw badParameter(`The Media Insights API does not support the ${unfit} metric for this media product type.`)
    }
    // Metrics that are not known yet are left out instead of 0.
    if (store.counting.isTooYoung(post)) return insightsOf(id, [], () => 0)
    const reported = store.counting.reported(post)
    const all = ENGAGEMENT.reduce((sum, name) => sum + (reported[name] ?? 0), 0)
    return insightsOf(id, metrics, (name) => reported[name] ?? (name === 'total_interactions' ? all : 0))
  }

  return [['GET', /^\/(\d+)\/insights$/, ofPost]]
}
