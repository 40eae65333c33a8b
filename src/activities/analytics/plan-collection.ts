import { log } from '@temporalio/activity'
import type { Clock } from '../../clock.ts'
import { countShards, divideOwners, isInRange } from '../../domain/analytics/shards.ts'
import { PLATFORMS, platformLabel } from '../../domain/shared/platforms.ts'
import { SECOND } from '../../domain/shared/times.ts'
import type { PlatformRegistry } from '../../platforms/registry.ts'
import type { DueMetricsStore } from '../../store/analytics/due-metrics.ts'
import type { CollectionPlan } from '../../workflows/messages/analytics.ts'
import { startAgeClass } from './list-due-metrics.ts'

/** Sampled posts per shard. More of them make the shards more equal. */
const SAMPLES_PER_SHARD = 20
/** A run ends this long before the next one, which would be skipped otherwise. */
const MARGIN_MS = 30 * SECOND

interface PlanCollectionDeps {
  published: Pick<DueMetricsStore, 'sampleOwners' | 'countRoughly'>
  platforms: Pick<PlatformRegistry, 'find'>
  clock: Clock
  /** The time between two runs. */
  intervalMs: number
  /** The largest number of owner ranges per platform. */
  shards: number
}

/** Divides a run of the metrics collection into shards. Other runs may divide the owners in other ways. */
export function createPlanCollection({ published, platforms, clock, intervalMs, shards: most }: PlanCollectionDeps) {
  return async function planCollection(): Promise<CollectionPlan> {
    const count = countShards(await published.countRoughly(), most)
    const sample = await published.sampleOwners(count * SAMPLES_PER_SHARD)
    const ranges = divideOwners(sample, count)
    const shards = listMetricsPlatforms().flatMap((platform) =>
      ranges.map((range, index) => {
        // The sample is in random order.
        const startUserId = sample.find((userId) => isInRange(userId, range)) ?? null
        const name = `${platformLabel(platform)}, shard ${index + 1} of ${ranges.length}`
        return { name, place: startAgeClass(0, { platform, range, startUserId }) }
      }),
    )
    return { shards, endsAt: clock.now().getTime() + intervalMs - Math.min(MARGIN_MS, intervalMs / 2) }
  }

  /** The platforms that report metrics. The others are logged. */
  function listMetricsPlatforms() {
    const configured = PLATFORMS.filter((platform) => platforms.find(platform))
    const unsupported = configured.filter((platform) => !platforms.find(platform)?.metrics)
    if (unsupported.length > 0) log.info('platforms without metrics skipped', { platforms: unsupported })
    return configured.filter((platform) => !unsupported.includes(platform))
  }
}
