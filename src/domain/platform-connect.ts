import type { Platform } from './platforms.ts'
import { below } from './redirects.ts'

/** Platforms whose accounts come and go with that of another one (spec 4.5). */
const COMPANIONS: Partial<Record<Platform, Platform[]>> = { facebook: ['instagram'] }

/** The platform itself, and those that are connected and disconnected with it. */
export function withCompanions(platform: Platform): Platform[] {
  return [platform, ...(COMPANIONS[platform] ?? [])]
}

/** Where a platform sends users back to (spec 4.5): what is registered there has to be this, to the letter. */
export function callbackUrl(publicUrl: string, platform: Platform): string {
  return below(publicUrl, `/api/platform/${platform}/callback`)
}

/** What came of an attempt; the words of the query that the frontend's settings page is given (contract section 5). */
export type ConnectOutcome = 'connected' | 'auth_failed' | 'connect_failed' | 'state_invalid'

/** Where a callback ends. Nothing in it comes from the request. */
export function settingsUrl(frontendUrl: string, platform: Platform, outcome: ConnectOutcome): string {
  const field = outcome === 'connected' ? 'success' : 'error'
  return below(frontendUrl, `/settings?${field}=${platform}_${outcome}`)
}
