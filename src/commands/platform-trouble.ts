import { platformLabel, type Platform } from '../domain/platforms.ts'
import { ServiceError } from '../domain/service-error.ts'
import { SECOND } from '../domain/times.ts'
import { PlatformError } from '../platforms/errors.ts'

/**
 * What a user who waits for a platform is told about its failure: to connect again, or to try later. Anything that is not the
 * platform's doing comes back as it is.
 * @param signal the deadline the platform had
 */
export function platformTrouble(platform: Platform, error: unknown, signal: AbortSignal): unknown {
  const label = platformLabel(platform)
  if (error instanceof PlatformError) {
    const { class: errorClass, retryAfterMs } = error
    if (errorClass === 'unauthorized' || errorClass === 'permission') {
      return new ServiceError('RECONNECT_REQUIRED', `Connect your ${label} account again: ${error.message}`, {
        cause: error,
      })
    }
    return new ServiceError('PLATFORM_UNAVAILABLE', `${label} is not available at the moment, try again later`, {
      cause: error,
      ...(retryAfterMs !== undefined && { retryAfterSeconds: Math.ceil(retryAfterMs / SECOND) }),
    })
  }
  if (!signal.aborted) return error
  return new ServiceError('PLATFORM_UNAVAILABLE', `${label} did not answer in time, try again later`, { cause: error })
}
