import type { SandboxResponse } from '../proxied-platform.ts'
import type { Crowd } from '../shared/crowd.ts'
import type { ContainerStore } from '../shared/graph/container-store.ts'
import { badParameter, callerOf, noSuchObject, type GraphCall, type GraphModule } from '../shared/graph/graph.ts'
import { askedMetrics, described, insightsOf } from '../shared/graph/insights.ts'
import { ownAccount, requireScope, type Caller } from './tokens.ts'

const SCOPE = 'threads_manage_insights'
const OF_POST = ['views', 'likes', 'replies', 'reposts', 'quotes', 'shares']
const OF_ACCOUNT = ['views', 'likes', 'replies', 'reposts', 'quotes', 'clicks', 'followers_count']
/** 13 April 2024, in seconds; there are no insights before. */
const FIRST_DAY = 1_712_991_600

/** Returns insights of posts and accounts. */
export function createInsights({ store, crowd }: { store: ContainerStore; crowd: Crowd }): GraphModule<Caller> {
  function ofPost(call: GraphCall<Caller>): SandboxResponse {
    const caller = callerOf(call)
    const [id = ''] = call.ids
    const post = store.posts.get(id)
    if (post?.accountId !== caller.account.id) throw noSuchObject(id, call.method)
    requireScope(caller, SCOPE)
    const metrics = askedMetrics(call.params, OF_POST)
    // Reposts have no insights.
    if (post.isRepost) return insightsOf(id, [], () => 0)
    const reported = store.counting.reported(post)
    return insightsOf(id, metrics, (name) => reported[name] ?? 0)
  }

  function ofAccount(call: GraphCall<Caller>): SandboxResponse {
    const { account } = ownAccount(call, SCOPE)
    for (const name of ['since', 'until']) {
      if (Number(call.params.get(name) ?? Infinity) < FIRST_DAY) throw badParameter(`Param ${name} is too early`)
    }
    const { followers = crowd.followers(Date.now()), ...counts } = account.metrics ?? {}
    const data = askedMetrics(call.params, OF_ACCOUNT).map((name) => {
      const value = name === 'followers_count' ? followers : (counts[name] ?? 0)
      const shown = described(account.id, name, 'day')
      return name === 'views'
        ? { ...shown, values: [{ value, end_time: new Date().toISOString().replace(/T.*/, 'T08:00:00+0000') }] }
        : { ...shown, total_value: { value } }
    })
    return { status: 200, body: { data } }
  }

  return {
    routes: [
      ['GET', /^\/(\d+)\/insights$/, ofPost],
      ['GET', /^\/(\d+)\/threads_insights$/, ofAccount],
    ],
    node: () => null,
  }
}
