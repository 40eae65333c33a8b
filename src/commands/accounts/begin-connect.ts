import type { Context } from '../../context.ts'
import { platformLabel, type Platform } from '../../domain/shared/platforms.ts'
import { REDIRECT_LIFETIME_MS } from '../../domain/shared/redirects.ts'
import { ServiceError } from '../../domain/shared/service-error.ts'
import { SECOND } from '../../domain/shared/times.ts'
import type { RedirectConnect } from '../../platforms/contract.ts'
import { connectAttemptContext, sealAttemptSecrets } from '../shared/attempt-secrets.ts'
import { platformUnavailable } from './platform-trouble.ts'
import { hashOf, newSecret } from '../../security/random.ts'

interface BeginConnectDeps extends Pick<Context, 'connectStates' | 'connectAttempts' | 'cipher' | 'clock'> {
  platforms: { redirect(platform: Platform): RedirectConnect | null }
}

interface BeginConnect {
  userId: string
  sessionId: string
  platform: Platform
  /** Where the platform is to send the user back to. */
  redirectUri: string
  /** Whether the caller keeps a binding until the callback and shows it there. */
  isBound: boolean
}

const BEGIN_TIMEOUT_MS = 10 * SECOND

/**
 * Begins to connect an account on the platform's own page (safety.md section 3). Only the browser that holds `binding`, if there is
 * one, can finish: a state alone could be handed to somebody else, who would connect their account here for its maker.
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
  const owner = { _id: hashOf(nonce), userId, platform }
  await deps.connectAttempts.insert({
    ...owner,
    sessionId,
    secrets: sealAttemptSecrets(deps.cipher, connectAttemptContext(owner), secrets),
    bindingHash: binding === null ? null : hashOf(binding),
    ...(lookup !== undefined && { lookupHash: hashOf(lookup) }),
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
    throw platformUnavailable(platform, error, signal)
  }
}
