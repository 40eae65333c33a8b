import { quotePlatform, type PlatformReason } from './platform-reason.ts'
import { platformLabel, type Platform } from '../shared/platforms.ts'
import { trimFullStop } from '../shared/text.ts'

/** The classes of `PlatformError`: which kind of failure a platform reported decides what follows. */
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

/** `errorCode` of a platform status: one of the platform's classes, or a reason of our own. */
export const FAILURE_CODES = [
  ...PLATFORM_ERROR_CLASSES,
  'PLATFORM_NOT_CONNECTED',
  'PLATFORM_NOT_SUPPORTED',
  'ACCOUNT_DISABLED',
  'OUTCOME_UNKNOWN',
  'MEDIA_UNAVAILABLE',
  'TOO_LATE',
  'INTERNAL',
] as const

export type FailureCode = (typeof FAILURE_CODES)[number]

/** Why a delivery did not happen; `message` is a sentence of ours for people. */
export interface Failure {
  code: FailureCode
  message: string
  /** What the platform itself said. It may name things from the post, so notifications leave it out. */
  platformReason?: PlatformReason
}

const MAX_MESSAGE_LENGTH = 500

/** A failure whose message is cut to the 500 characters that records and histories may carry. */
export function failure(code: FailureCode, message: string, reason: PlatformReason | null = null): Failure {
  return { code, message: cut(message.replace(/\s+/g, ' ').trim()), ...(reason && { platformReason: reason }) }
}

/** Returns our sentence and the platform's own words, at most 500 characters. */
export function explainFailure({ message, platformReason }: Omit<Failure, 'code'>, platform: Platform): string {
  if (!platformReason) return message
  return cut(`${trimFullStop(message)}. ${quotePlatform(platformReason, platformLabel(platform))}`)
}

function cut(text: string): string {
  return text.length > MAX_MESSAGE_LENGTH ? `${text.slice(0, MAX_MESSAGE_LENGTH - 1)}…` : text
}

/** A post's media item is not in object storage, or is not what its record says. Final until the post is changed. */
export class MediaUnavailableError extends Error {
  constructor(message: string) {
    super(message)
    this.name = 'MediaUnavailableError'
  }
}
