import { quotePlatform, type PlatformReason } from './platform-reason.ts'
import { platformLabel, type Platform } from '../shared/platforms.ts'
import { trimFullStop } from '../shared/text.ts'

/** Classes of `PlatformError`. The retry policy depends on them. */
export const PLATFORM_ERROR_CLASSES = [
  'unauthorized',
  'permission',
  'rate_limited',
  'not_found',
  'validation',
  'media_not_ready',
  'media_fetch_failed',
  'duplicate',
  'blocked_by_platform',
  'transient',
] as const

export type PlatformErrorClass = (typeof PLATFORM_ERROR_CLASSES)[number]

/** Values of a platform status's `errorCode`: the class of a platform error, or a reason of this service. */
export const FAILURE_CODES = [
  ...PLATFORM_ERROR_CLASSES,
  'PLATFORM_NOT_CONNECTED',
  'PLATFORM_NOT_SUPPORTED',
  'ACCOUNT_DISABLED',
  'OUTCOME_UNKNOWN',
  'MEDIA_UNAVAILABLE',
  'TOO_LATE',
  'SKIPPED',
  'QUOTA_EXCEEDED',
  'CANCELLED',
  'INTERNAL',
] as const

export type FailureCode = (typeof FAILURE_CODES)[number]

/** Why a delivery failed. `message` is a sentence for users. */
export interface Failure {
  code: FailureCode
  message: string
  /** The platform's own explanation. It may quote the post, so notifications leave it out. */
  platformReason?: PlatformReason
}

const MAX_MESSAGE_LENGTH = 500

/** Builds a failure. Cuts its message to the 500 characters that records and histories may hold. */
export function failure(code: FailureCode, message: string, reason: PlatformReason | null = null): Failure {
  return { code, message: cut(message.replace(/\s+/g, ' ').trim()), ...(reason && { platformReason: reason }) }
}

/** Returns the message followed by the platform's explanation, at most 500 characters. */
export function explainFailure(
  { message, platformReason }: { message: string; platformReason?: PlatformReason | null },
  platform: Platform,
): string {
  if (!platformReason) return message
  return cut(`${trimFullStop(message)}. ${quotePlatform(platformReason, platformLabel(platform))}`)
}

function cut(text: string): string {
  return text.length > MAX_MESSAGE_LENGTH ? `${text.slice(0, MAX_MESSAGE_LENGTH - 1)}…` : text
}

/** Thrown when the file of a media item is missing or cannot be published. Final until the post is edited. */
export class MediaUnavailableError extends Error {
  constructor(message: string) {
    super(message)
    this.name = 'MediaUnavailableError'
  }
}
