import { randomUUID } from 'node:crypto'
import { Pool } from 'undici'
import type { Platform } from '../src/domain/shared/platforms.ts'
import type { PlatformAdapter } from '../src/platforms/contract.ts'
import type { PlatformRegistry } from '../src/platforms/registry.ts'

/** Platforms that respond immediately. Their rules allow a short text. */
export const INSTANT_PLATFORMS = ['mastodon', 'threads', 'tumblr'] as const satisfies Platform[]

/** Returns the id of a visible call for the receiver. */
export const toCallId = (postId: string, platform: Platform): string => `${postId}-${platform}`

/**
 * Returns the instant platforms alone. Their visible call is an HTTP request to the receiver, which records its arrival; without a
 * receiver they make no call.
 */
export function benchPlatforms(receiver: string | null): PlatformRegistry {
  const pool = receiver === null ? null : new Pool(receiver, { connections: 64 })
  const instant = new Map<Platform, PlatformAdapter>(
    INSTANT_PLATFORMS.map((platform) => [platform, instantAdapter(platform, pool)]),
  )
  return {
    find: (platform) => instant.get(platform) ?? null,
    direct: () => null,
    redirect: () => null,
    warmUp: async () => {},
    close: async () => pool?.close(),
  }
}

function instantAdapter(platform: Platform, pool: Pool | null): PlatformAdapter {
  return {
    platform,
    async prepare() {},
    async publish({ postId }) {
      if (pool) {
        const response = await pool.request({ method: 'POST', path: `/${toCallId(postId, platform)}` })
        await response.body.dump()
      }
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
