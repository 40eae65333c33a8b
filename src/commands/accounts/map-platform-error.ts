import { platformLabel, type Platform } from '../../domain/shared/platforms.ts'
import { ServiceError } from '../../domain/shared/service-error.ts'
import { SECOND } from '../../domain/shared/times.ts'
import { PlatformError } from '../../platforms/errors.ts'

/**
 * What a user who waits for a platform is told about its failure: to connect again, or to try later. Anything that is not the
 * platform's doing comes back as it is.
 * @param signal the deadline the platform had
 */
export function mapPlatformError(platform: Platform, error: unknown, signal: AbortSignal): unknown {
  if (error instanceof PlatformError && (error.class === 'unauthorized' || error.class === 'permission')) {
    const message = `Connect your ${platformLabel(platform)} account again: ${error.message}`
    return new ServiceError('RECONNECT_REQUIRED', message, { cause: error })
  }
  return mapPlatformOutage(platform, error, signal)
}

/** The same where there is no connection yet that could be made again. */
export function mapPlatformOutage(platform: Platform, error: unknown, signal: AbortSignal): unknown {
  const label = platformLabel(platform)
  if (error instanceof PlatformError) {
    const { retryAfterMs } = error
    return new ServiceError('PLATFORM_UNAVAILABLE', `${label} is not available at the moment, try again later`, {
      cause: error,
      ...(retryAfterMs !== undefined && { retryAfterSeconds: Math.ceil(retryAfterMs / SECOND) }),
    })
  }
  if (!signal.aborted) return error
  return new ServiceError('PLATFORM_UNAVAILABLE', `${label} did not answer in time, try again later`, { cause: error })
}
