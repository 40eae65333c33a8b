import type { Platform } from '../../domain/shared/platforms.ts'
import { POSTING_RULES, type PlatformRules, type PostingRules } from '../../domain/posts/posting-rules.ts'
import { SECOND } from '../../domain/shared/times.ts'
import type { CommandContext } from '../context.ts'

/** The longest wait for a platform's current limits; after it the default limits apply. */
const LONGEST_WAIT_MS = SECOND

/** Returns the current rules for posts of an account on this server; without one, on the configured server. */
export async function loadRules(
  { platforms }: CommandContext,
  platform: Platform,
  server?: string,
): Promise<PostingRules> {
  const limits = platforms.find(platform)?.limits
  if (!limits) return POSTING_RULES[platform]
  const signal = AbortSignal.timeout(LONGEST_WAIT_MS)
  return limits({ signal, ...(server !== undefined && { server }) })
}

/**
 * Returns the current rules of these platforms, and the default rules of all others.
 * @param servers the servers of accounts; of other platforms, the configured server is asked
 */
export async function loadCurrentRules(
  deps: CommandContext,
  wanted: readonly Platform[],
  servers: Partial<Record<Platform, string>> = {},
): Promise<PlatformRules> {
  const current = await Promise.all(
    wanted.map(async (platform) => [platform, await loadRules(deps, platform, servers[platform])] as const),
  )
  return { ...POSTING_RULES, ...Object.fromEntries(current) }
}
