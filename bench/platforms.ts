import { randomUUID } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import { Pool } from 'undici'
import type { Config } from '../src/config/schema.ts'
import type { Platform } from '../src/domain/shared/platforms.ts'
import type { PlatformAdapter } from '../src/platforms/contract.ts'
import { platformSettings } from '../src/config/platforms.ts'
import { createPlatformRegistry, type PlatformRegistry } from '../src/platforms/registry.ts'
import { toUserAgent } from '../src/config/user-agent.ts'

/** Platforms that respond immediately, in addition to the real Bluesky. Their rules allow a short text. */
export const INSTANT_PLATFORMS = ['mastodon', 'threads', 'tumblr'] as const satisfies Platform[]

async function noMedia(): Promise<never> {
  throw new Error('The benchmark posts have no media')
}

interface BenchPlatforms {
  receiver: string | null
  /** How much later each platform responds than the one before it, milliseconds. */
  spreadMs: number
}

/**
 * Returns the service's registry with instant platforms added. Their visible call is an HTTP request to the receiver, which records
 * its arrival; without a receiver they make no call.
 */
export function benchPlatforms(config: Config, { receiver, spreadMs }: BenchPlatforms): PlatformRegistry {
  const real = createPlatformRegistry({
    ...platformSettings(config),
    publishTimeoutMs: config.PUBLISH_TIMEOUT_MS,
    userAgent: toUserAgent(config),
    unansweredInFlightMs: config.UNANSWERED_CALL_SETTLE_MS,
    media: { open: noMedia, publicUrl: noMedia, storeCopy: noMedia },
    facts: { find: async () => null, save: async () => {} },
  })
  const pool = receiver === null ? null : new Pool(receiver, { connections: 64 })
  const instant = new Map<Platform, PlatformAdapter>(
    INSTANT_PLATFORMS.map((platform, index) => [platform, instantAdapter(platform, pool, index * spreadMs)]),
  )
  return {
    ...real,
    find: (platform) => instant.get(platform) ?? real.find(platform),
    async close() {
      await Promise.all([real.close(), pool?.close()])
    },
  }
}

function instantAdapter(platform: Platform, pool: Pool | null, latencyMs: number): PlatformAdapter {
  return {
    platform,
    async prepare() {},
    async publish(post) {
      if (pool) {
        const response = await pool.request({ method: 'POST', path: `/${post.postId}` })
        await response.body.dump()
      }
      if (latencyMs > 0) await delay(latencyMs)
      const id = randomUUID()
      return { platformPostId: id, platformPostUrl: `https://${platform}.example/${id}` }
    },
    async reconcile() {
      return 'absent'
    },
    async profile({ handle }) {
      return { displayName: handle, handle, avatar: null }
    },
  }
}
