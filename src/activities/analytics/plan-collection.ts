import { log } from '@temporalio/activity'
import type { Clock } from '../../clock.ts'
import { countShards, divideOwners, isInRange } from '../../domain/analytics/shards.ts'
import { PLATFORMS, platformLabel, type Platform } from '../../domain/shared/platforms.ts'
import { SECOND } from '../../domain/shared/times.ts'
import type { PlatformAdapter } from '../../platforms/contract.ts'
import type { PlatformRegistry } from '../../platforms/registry.ts'
import type { OwnerSample } from '../../store/shared/owners.ts'
import type { CollectionPlan, FollowersPlan } from '../../workflows/contract/analytics.ts'

/** Sampled records per shard. More of them make the shards more equal. */
const SAMPLES_PER_SHARD = 100
/** A run ends this long before the next one, which would be skipped otherwise. */
const MARGIN_MS = 30 * SECOND

interface PlanCollectionDeps {
  published: OwnerSample
  accounts: OwnerSample
  platforms: PlatformRegistry
  clock: Clock
  /** The time between two runs of the metrics collection. */
  intervalMs: number
  /** The largest number of owner ranges per platform. */
  shards: number
}

/** Divides collection runs into shards: a platform and a range of owners each. Other runs may divide the owners in other ways. */
export function createPlanCollection(deps: PlanCollectionDeps) {
  const { published, accounts, platforms, clock, intervalMs, shards: most } = deps

  async function divide(records: OwnerSample, supported: Platform[]) {
    const count = countShards(await records.countRoughly(), most)
    const sample = await records.sampleOwners(count * SAMPLES_PER_SHARD)
    const ranges = divideOwners(sample, count)
    const shards = supported.flatMap((platform) =>
      ranges.map((range, index) => {
        const name = `${platformLabel(platform)}, shard ${index + 1} of ${ranges.length}`
        return { name, platform, range }
      }),
    )
    return { shards, sample }
  }

  /** The platforms whose adapters report metrics or followers. The others are logged. */
  function listSupported(reported: 'metrics' | 'followers'): Platform[] {
    const configured = PLATFORMS.filter((platform) => platforms.find(platform))
    const isSupported = (adapter: PlatformAdapter | null) => adapter?.[reported] !== undefined
    const unsupported = configured.filter((platform) => !isSupported(platforms.find(platform)))
    if (unsupported.length > 0) log.info(`platforms without ${reported} skipped`, { platforms: unsupported })
    return configured.filter((platform) => !unsupported.includes(platform))
  }

  return {
    async planPosts(): Promise<CollectionPlan> {
      const { shards, sample } = await divide(published, listSupported('metrics'))
      const endsAt = clock.now().getTime() + intervalMs - Math.min(MARGIN_MS, intervalMs / 2)
      return {
        shards: shards.map((shard) => {
          // The sample is in random order.
          const startUserId = sample.find((userId) => isInRange(userId, shard.range)) ?? null
          return { ...shard, startUserId }
        }),
        endsAt,
      }
    },

    async planFollowers(): Promise<FollowersPlan> {
      return { shards: (await divide(accounts, listSupported('followers'))).shards }
    },
  }
}
