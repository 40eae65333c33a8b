import type { Clock } from '../../clock.ts'
import type { ConnectStates } from '../../security/connect-states.ts'
import type { TokenCipher } from '../../security/token-cipher.ts'
import type { ConnectAttemptStore } from '../../store/accounts/connect-attempts.ts'
import { platformLabel, type Platform } from '../../domain/shared/platforms.ts'
import { REDIRECT_LIFETIME_MS } from '../../domain/shared/redirects.ts'
import { ServiceError } from '../../domain/shared/service-error.ts'
import { SECOND } from '../../domain/shared/times.ts'
import type { RedirectConnect } from '../../platforms/contract.ts'
import { connectAttemptContext, sealAttemptSecrets } from '../shared/attempt-secrets.ts'
import { mapPlatformOutage } from './map-platform-error.ts'
import { hashSecret, newSecret } from '../../security/random.ts'

interface BeginConnectDeps {
  connectStates: Pick<ConnectStates, 'issue'>
  connectAttempts: Pick<ConnectAttemptStore, 'insert'>
  cipher: TokenCipher
  clock: Pick<Clock, 'now'>
  platforms: { redirect(platform: Platform): RedirectConnect | null }
}

interface BeginConnect {
  userId: string
  sessionId: string
  platform: Platform
  /** The address to which the platform redirects the user. */
  redirectUri: string
  /** True when the caller stores the binding and presents it at the callback. */
  isBound: boolean
}

const BEGIN_TIMEOUT_MS = 10 * SECOND

/**
 * Starts connecting an account on the platform's own page. Only the browser that holds `binding`, if there is one, can finish.
 * Without it an attacker could hand a state to another user and get that user's account connected to the attacker's profile.
 * @throws ServiceError PLATFORM_NOT_SUPPORTED, PLATFORM_UNAVAILABLE
 */
export async function beginConnect(
  deps: BeginConnectDeps,
  { userId, sessionId, platform, redirectUri, isBound }: BeginConnect,
): Promise<{ url: string; binding: string | null }> {
  const redirect = deps.platforms.redirect(platform)
  if (!redirect) {
    throw new ServiceError('PLATFORM_NOT_SUPPORTED', `${platformLabel(platform)} cannot be connected here`)
  }
  const expiresAt = new Date(deps.clock.now().getTime() + REDIRECT_LIFETIME_MS)
  const { state, nonce } = deps.connectStates.issue({ platform, redirectUri }, userId, expiresAt)
  const { url, secrets, lookup } = await begin(redirect, platform, { state, redirectUri })
  const binding = isBound ? newSecret() : null
  const owner = { _id: hashSecret(nonce), userId, platform }
  await deps.connectAttempts.insert({
    ...owner,
    sessionId,
    secrets: sealAttemptSecrets(deps.cipher, connectAttemptContext(owner), secrets),
    bindingHash: binding === null ? null : hashSecret(binding),
    ...(lookup !== undefined && { lookupHash: hashSecret(lookup) }),
    expiresAt,
    consumedAt: null,
  })
  return { url, binding }
}

async function begin(
  redirect: RedirectConnect,
  platform: Platform,
  input: Parameters<RedirectConnect['begin']>[0],
): ReturnType<RedirectConnect['begin']> {
  const signal = AbortSignal.timeout(BEGIN_TIMEOUT_MS)
  try {
    return await redirect.begin(input, { signal })
  } catch (error) {
    throw mapPlatformOutage(platform, error, signal)
  }
}
