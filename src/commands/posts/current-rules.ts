import type { Platform } from '../../domain/shared/platforms.ts'
import { POSTING_RULES, type PlatformRules } from '../../domain/posts/posting-rules.ts'
import { SECOND } from '../../domain/shared/times.ts'
import type { PlatformAdapter } from '../../platforms/contract.ts'

export interface CurrentRulesDeps {
  platforms: { find(platform: Platform): PlatformAdapter | null }
}

/** The longest wait for a platform's current limits; after it the default limits apply. */
const LONGEST_WAIT_MS = SECOND

/** Returns the rules of all platforms, with the current limits of the wanted ones. */
export async function loadCurrentRules(
  { platforms }: CurrentRulesDeps,
  wanted: readonly Platform[],
): Promise<PlatformRules> {
  const signal = AbortSignal.timeout(LONGEST_WAIT_MS)
  const withLimits = wanted.flatMap((platform) => {
    const limits = platforms.find(platform)?.limits
    return limits ? [{ platform, limits }] : []
  })
  if (withLimits.length === 0) return POSTING_RULES
  const current = await Promise.all(
    withLimits.map(async ({ platform, limits }) => [platform, await limits({ signal })] as const),
  )
  return { ...POSTING_RULES, ...Object.fromEntries(current) }
}
