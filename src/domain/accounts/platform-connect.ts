import type { PlatformErrorClass } from '../posts/failure.ts'
import type { Platform } from '../shared/platforms.ts'
import { joinUrl } from '../shared/redirects.ts'

/** An account that a login offers. */
export interface OfferedId {
  /** The account's id on the platform. */
  accountId: string
  mayPost: boolean
}

/**
 * Chooses the account that a login connects when it offers several: one that was connected before, because the order of an offer means
 * nothing, or else the first that the person may post on. A login that adds an account prefers one that is not connected.
 * @param connected the ids of the connected accounts, the default one first
 * @returns null when there is none
 */
export function chooseOffered(
  offered: readonly OfferedId[],
  connected: readonly string[],
  { adds }: { adds: boolean },
): string | null {
  const known = connected.find((id) => offered.some(({ accountId }) => accountId === id)) ?? null
  const added = offered.find(({ accountId, mayPost }) => mayPost && !connected.includes(accountId))?.accountId ?? null
  return adds ? (added ?? known) : (known ?? added)
}

/** Returns the OAuth redirect URL of a platform. It must be registered at the platform exactly as it is. */
export function buildCallbackUrl(publicUrl: string, platform: Platform): string {
  return joinUrl(publicUrl, `/api/platform/${platform}/callback`)
}

/** Result of a connect attempt, as in the query of the frontend's settings page. */
export type ConnectOutcome = 'connected' | 'auth_failed' | 'connect_failed' | 'state_invalid'

/** Why an account was not connected. The frontend gets it as query parameter `reason`, next to `error`. */
export const CONNECT_REASONS = [
  'DENIED',
  'LOGIN_REFUSED',
  'MISSING_PERMISSION',
  'NO_PAGE',
  'ACCOUNT_ALREADY_CONNECTED',
  'ACCOUNT_LIMIT_REACHED',
  'PLATFORM_UNAVAILABLE',
  'ATTEMPT_INVALID',
  'INTERNAL',
] as const

export type ConnectReason = (typeof CONNECT_REASONS)[number]

/** Returns the reason for a platform error that has none of its own. */
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
 * Returns the page of the frontend that a callback redirects to, with the id of the offer if the login has several accounts. It
 * contains nothing from the request. Its empty fragment keeps browsers from carrying over the callback's own (Facebook appends
 * `#_=_`).
 */
export function buildSettingsUrl(
  frontendUrl: string,
  platform: Platform,
  outcome: ConnectOutcome,
  reason: ConnectReason | null,
  offer: string | null = null,
): string {
  const field = outcome === 'connected' ? 'success' : 'error'
  const why = reason === null ? '' : `&reason=${reason}`
  const choice = offer === null ? '' : `&offer=${offer}`
  return joinUrl(frontendUrl, `/settings?${field}=${platform}_${outcome}${why}${choice}#`)
}
