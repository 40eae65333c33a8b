import type { PostCounts } from '../../src/domain/analytics/analytics.ts'
import { NO_COUNTS } from '../../src/domain/analytics/analytics.ts'
import type { Platform } from '../../src/domain/shared/platforms.ts'
import type { Credentials, PlatformAdapter } from '../../src/platforms/contract.ts'
import type { PlatformRegistry } from '../../src/platforms/registry.ts'

/** The scripted responses of a platform. Tests change them between calls. */
interface PlatformScript {
  counts: Map<string, Partial<PostCounts> | 'deleted'>
  /** The counts of other ids; null means that the response omits them. */
  default: Partial<PostCounts> | null
  followers: number | null
  /** The followers of accounts, by the platform's id; of other accounts it is `followers`. */
  followersOf: Map<string, number>
  /** The errors that the next metrics calls throw, in order; `null` lets one call succeed. */
  failures: (Error | null)[]
  /** The errors that the next follower calls throw, in order. */
  followerFailures: Error[]
  /** Runs between a call for these ids and its response. */
  meanwhile?: (ids: string[]) => Promise<void>
  /** Runs between a follower call and its response. */
  followersMeanwhile?: (account: Credentials) => Promise<void>
}

const unexpected = () => Promise.reject(new Error('unexpected call'))

/**
 * Creates platforms with scripted responses, for cases that no real server can reproduce. They record all calls.
 * @param metrics the maximal number of ids in a metrics call, by platform; 0 for a platform without metrics
 */
export function createScriptedPlatforms(
  metrics: Partial<Record<Platform, number>>,
  renew: Partial<Record<Platform, PlatformAdapter['renew']>> = {},
) {
  const calls: { platform: Platform; ids: string[]; token: string; accountId: string }[] = []
  const followerCalls: Platform[] = []
  const scripts = new Map<Platform, PlatformScript>()
  const adapters = new Map<Platform, PlatformAdapter>()

  for (const [platform, perCall] of Object.entries(metrics) as [Platform, number][]) {
    const script: PlatformScript = {
      counts: new Map(),
      default: { likes: 1 },
      followers: 100,
      followersOf: new Map(),
      failures: [],
      followerFailures: [],
    }
    scripts.set(platform, script)

    const throwScripted = async (ids: string[]) => {
      await script.meanwhile?.(ids)
      const failure = script.failures.shift()
      if (failure) throw failure
    }
    const read = async (ids: string[], { accessToken, accountId }: Credentials) => {
      calls.push({ platform, ids, token: accessToken, accountId })
      await throwScripted(ids)
      const found = new Map<string, PostCounts | 'deleted'>()
      for (const id of ids) {
        const counts = script.counts.get(id) ?? script.default
        if (counts) found.set(id, counts === 'deleted' ? counts : { ...NO_COUNTS, ...counts })
      }
      return found
    }
    adapters.set(platform, {
      platform,
      prepare: unexpected,
      publish: unexpected,
      reconcile: unexpected,
      profile: unexpected,
      ...(renew[platform] && { renew: renew[platform] }),
      ...(perCall > 0 && { metrics: { perCall, read } }),
      async followers(account) {
        const { accountId } = account
        followerCalls.push(platform)
        await script.followersMeanwhile?.(account)
        const failure = script.followerFailures.shift()
        if (failure) throw failure
        return script.followersOf.get(accountId) ?? script.followers
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
  return { registry, calls, followerCalls, scriptFor: (platform: Platform): PlatformScript => scripts.get(platform)! }
}
