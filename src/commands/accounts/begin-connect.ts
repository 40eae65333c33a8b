import { platformLabel, type Platform } from '../../domain/shared/platforms.ts'
import { REDIRECT_LIFETIME_MS } from '../../domain/shared/redirects.ts'
import { connectAttemptSecret } from '../../domain/shared/secrets.ts'
import { ServiceError, validationFailed } from '../../domain/shared/service-error.ts'
import { SECOND } from '../../domain/shared/times.ts'
import type { RedirectConnect } from '../../platforms/contract.ts'
import { PlatformError, ServerNotAllowedError } from '../../platforms/errors.ts'
import { sealAttemptSecrets } from '../shared/attempt-secrets.ts'
import { mapPlatformOutage } from './map-platform-error.ts'
import { hashSecret, newSecret } from '../../security/random.ts'
import type { CommandContext } from '../context.ts'

interface BeginConnect {
  userId: string
  sessionId: string
  platform: Platform
  /** The address to which the platform redirects the user. */
  redirectUri: string
  /** The server that the user typed, on platforms with many; absent: the configured one. */
  server?: string | undefined
  /** Whether a new account takes the place of the platform's default account, or else is added. */
  replace: boolean
  /** True when the caller stores the binding and presents it at the callback. */
  isBound: boolean
}

const BEGIN_TIMEOUT_MS = 10 * SECOND

/**
 * Starts connecting an account on the platform's own page. Only the browser that holds `binding`, if there is one, can finish.
 * Without it an attacker could hand a state to another user and get that user's account connected to the attacker's profile.
 * @throws ServiceError PLATFORM_NOT_SUPPORTED, PLATFORM_UNAVAILABLE; VALIDATION_FAILED when the server is not allowed;
 * RATE_LIMITED when the user began too many
 */
export async function beginConnect(
  deps: CommandContext,
  { userId, sessionId, platform, redirectUri, server, replace, isBound }: BeginConnect,
): Promise<{ url: string; binding: string | null }> {
  const redirect = deps.platforms.redirect(platform)
  if (!redirect) {
    throw new ServiceError('PLATFORM_NOT_SUPPORTED', `${platformLabel(platform)} cannot be connected here`)
  }
  await deps.limits.connectStart.take(userId, platform)
  const expiresAt = new Date(deps.clock.now().getTime() + REDIRECT_LIFETIME_MS)
  const { state, nonce } = deps.connectStates.issue({ platform, redirectUri }, userId, expiresAt)
  const { url, secrets, lookup } = await begin(redirect, platform, {
    state,
    redirectUri,
    ...(server !== undefined && { server }),
  })
  const binding = isBound ? newSecret() : null
  const owner = { _id: hashSecret(nonce), userId, platform }
  await deps.connectAttempts.insert({
    ...owner,
    sessionId,
    ...(!replace && { adds: true }),
    secrets: sealAttemptSecrets(deps.cipher, connectAttemptSecret(owner), secrets),
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
    if (input.server !== undefined && error instanceof PlatformError) throw mapServerError(error)
    throw mapPlatformOutage(platform, error, signal)
  }
}

/** All failures of the server itself are one error, so that the response does not reveal what answered. */
function mapServerError(cause: PlatformError): ServiceError {
  if (cause instanceof ServerNotAllowedError) {
    return validationFailed([{ path: 'instance', code: 'SERVER_NOT_ALLOWED', message: cause.message }])
  }
  const message = 'The server does not answer as expected. Check its name, or try again later.'
  return new ServiceError('PLATFORM_UNAVAILABLE', message, { cause })
}
