import type { PostCounts } from '../../src/domain/analytics/analytics.ts'
import { NO_COUNTS } from '../../src/domain/analytics/analytics.ts'
import type { Platform } from '../../src/domain/shared/platforms.ts'
import type { Credentials, PlatformAdapter } from '../../src/platforms/contract.ts'
import type { PlatformRegistry } from '../../src/platforms/registry.ts'

/** Scripted responses of a platform about posts and accounts. */
interface Told {
  counts: Map<string, Partial<PostCounts> | 'deleted'>
  /** Of ids without counts of their own; null: it says nothing of them. */
  default: Partial<PostCounts> | null
  followers: number | null
  /** Thrown by the next calls, the first one first; `null` lets one through. */
  troubles: (Error | null)[]
  /** As `troubles`, of calls for followers. */
  followerTroubles: Error[]
  /** Runs between a call and its response. */
  meanwhile?: () => Promise<void>
}

const notAsked = () => Promise.reject(new Error('not asked for here'))

/** Platforms with scripted responses, for cases that no real server can reproduce. They record all calls. */
export function toldPlatforms(
  metrics: Partial<Record<Platform, number>>,
  renew: Partial<Record<Platform, PlatformAdapter['renew']>> = {},
) {
  const calls: { platform: Platform; ids: string[]; token: string }[] = []
  const followerCalls: Platform[] = []
  const told = new Map<Platform, Told>()
  const adapters = new Map<Platform, PlatformAdapter>()

  for (const [platform, perCall] of Object.entries(metrics) as [Platform, number][]) {
    const say: Told = { counts: new Map(), default: { likes: 1 }, followers: 100, troubles: [], followerTroubles: [] }
    told.set(platform, say)

    const answer = async () => {
      await say.meanwhile?.()
      const trouble = say.troubles.shift()
      if (trouble) throw trouble
    }
    const read = async (ids: string[], { accessToken }: Credentials) => {
      calls.push({ platform, ids, token: accessToken })
      await answer()
      const seen = new Map<string, PostCounts | 'deleted'>()
      for (const id of ids) {
        const counts = say.counts.get(id) ?? say.default
        if (counts) seen.set(id, counts === 'deleted' ? counts : { ...NO_COUNTS, ...counts })
      }
      return seen
    }
    adapters.set(platform, {
      platform,
      prepare: notAsked,
      publish: notAsked,
      reconcile: notAsked,
      profile: notAsked,
      ...(renew[platform] && { renew: renew[platform] }),
      ...(perCall > 0 && { metrics: { perCall, read } }),
      async followers() {
        followerCalls.push(platform)
        const trouble = say.followerTroubles.shift()
        if (trouble) throw trouble
        return say.followers
      },
    })
  }

  const registry: PlatformRegistry = {
    find: (platform) => adapters.get(platform) ?? null,
    direct: () => null,
    redirect: () => null,
    warmUp: async () => {},
    close: async () => {},
  }
  return { registry, calls, followerCalls, tell: (platform: Platform): Told => told.get(platform)! }
}
