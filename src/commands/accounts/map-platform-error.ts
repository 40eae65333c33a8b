import { explainFailure } from '../../domain/posts/failure.ts'
import { platformLabel, type Platform } from '../../domain/shared/platforms.ts'
import { ServiceError } from '../../domain/shared/service-error.ts'
import { SECOND } from '../../domain/shared/times.ts'
import { CredentialsUnreadable, PlatformError } from '../../platforms/errors.ts'

/**
 * Maps a platform's failure to an error for a waiting user: connect again, or try later. Errors that the platform did not cause
 * are returned unchanged.
 * @param signal the deadline the platform had
 */
export function mapPlatformError(platform: Platform, error: unknown, signal: AbortSignal): unknown {
  if (error instanceof PlatformError && (error.class === 'unauthorized' || error.class === 'permission')) {
    const message = `Connect your ${platformLabel(platform)} account again: ${explainFailure(error, platform)}`
    return new ServiceError('RECONNECT_REQUIRED', message, { cause: error })
  }
  if (error instanceof CredentialsUnreadable) {
    return new ServiceError('SERVICE_UNAVAILABLE', error.message, { cause: error, retryAfterSeconds: 60 })
  }
  return mapPlatformOutage(platform, error, signal)
}

/** Like `mapPlatformError`, before a connection exists. */
export function mapPlatformOutage(platform: Platform, error: unknown, signal: AbortSignal): unknown {
  const label = platformLabel(platform)
  if (error instanceof PlatformError) {
    const { retryAfterMs } = error
    return new ServiceError('PLATFORM_UNAVAILABLE', `${label} is not available at the moment. Try again later.`, {
      cause: error,
      ...(retryAfterMs !== undefined && { retryAfterSeconds: Math.ceil(retryAfterMs / SECOND) }),
    })
  }
  if (!signal.aborted) return error
  return new ServiceError('PLATFORM_UNAVAILABLE', `${label} did not answer in time. Try again later.`, { cause: error })
}
