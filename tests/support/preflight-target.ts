import { POSTING_RULES } from '../../src/domain/posts/posting-rules.ts'
import type { PreflightTarget } from '../../src/domain/posts/preflight.ts'
import type { Platform } from '../../src/domain/shared/platforms.ts'

/** A connected account with the usual rules of its platform; the default account unless `more` has a target. */
export function toPreflightTarget(platform: Platform, more: Partial<PreflightTarget> = {}): PreflightTarget {
  return { platform, path: 'selectedPlatforms.0', isConnected: true, rules: POSTING_RULES[platform], ...more }
}
