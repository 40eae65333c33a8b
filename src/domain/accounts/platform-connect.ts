import type { PlatformErrorClass } from '../posts/failure.ts'
import type { Platform } from '../shared/platforms.ts'
import { joinUrl } from '../shared/redirects.ts'

/** Platforms whose accounts come and go with that of another one (spec 4.5). */
const COMPANIONS: Partial<Record<Platform, Platform[]>> = { facebook: ['instagram'] }

/** The platform itself, and those that are connected and disconnected with it. */
export function listWithCompanions(platform: Platform): Platform[] {
  return [platform, ...(COMPANIONS[platform] ?? [])]
}

/** Where a platform sends users back to (spec 4.5): what is registered there has to be this, to the letter. */
export function buildCallbackUrl(publicUrl: string, platform: Platform): string {
  return joinUrl(publicUrl, `/api/platform/${platform}/callback`)
}

/** What came of an attempt; the words of the query that the frontend's settings page is given (contract section 5). */
export type ConnectOutcome = 'connected' | 'auth_failed' | 'connect_failed' | 'state_invalid'

/** Why an account was not connected; the frontend gets it as `reason`, beside `error`. */
export const CONNECT_REASONS = [
  'DENIED',
  'LOGIN_REFUSED',
  'MISSING_PERMISSION',
  'NO_PAGE',
  'ACCOUNT_ALREADY_CONNECTED',
  'PLATFORM_UNAVAILABLE',
  'ATTEMPT_INVALID',
  'INTERNAL',
] as const

export type ConnectReason = (typeof CONNECT_REASONS)[number]

/** The reason that a failure of the platform stands for where it names none itself. */
export function toConnectReason(errorClass: PlatformErrorClass): ConnectReason {
  switch (errorClass) {
    case 'permission':
      return 'MISSING_PERMISSION'
    case 'unauthorized':
    case 'validation':
    case 'blocked_by_platform':
      return 'LOGIN_REFUSED'
    default:
      return 'PLATFORM_UNAVAILABLE'
  }
}

/**
 * Where a callback ends. Nothing in it comes from the request, the fragment included: browsers keep that of the callback's address
 * (Facebook appends `#_=_`) unless the redirect has one, and an empty one is enough.
 */
export function buildSettingsUrl(
  frontendUrl: string,
  platform: Platform,
  outcome: ConnectOutcome,
  reason: ConnectReason | null,
): string {
  const field = outcome === 'connected' ? 'success' : 'error'
  const why = reason === null ? '' : `&reason=${reason}`
  return joinUrl(frontendUrl, `/settings?${field}=${platform}_${outcome}${why}#`)
}
