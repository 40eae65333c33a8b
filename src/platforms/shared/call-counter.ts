import { LRUCache } from 'lru-cache'
import { withDeadline } from '../../flow/deadlines.ts'
import {
  getScope,
  toBlockSize,
  type CallGrant,
  type CallLimit,
  type CallPurpose,
  type CallWindows,
  type QuotaSubject,
  type ReportedLimit,
} from '../../domain/quotas/limits.ts'
import { platformLabel, type Platform } from '../../domain/shared/platforms.ts'
import { SECOND } from '../../domain/shared/times.ts'
import { PlatformError } from '../errors.ts'
import { hashText } from './quota-subjects.ts'

/** Records what happens to quotas, for operators. */
export interface QuotaObserver {
  callRefused(platform: Platform, purpose: CallPurpose): void
  /** Receives the share that is left of each limit of a subject, by span. */
  callsCounted(platform: Platform, subject: QuotaSubject, left: CallGrant['left']): void
  /** The platform accepts no calls for a time. Called once in a pause. */
  paused(platform: Platform, subject: QuotaSubject, ms: number): void
}

interface CounterOptions {
  platform: Platform
  windows: CallWindows
  observer: QuotaObserver
}

const MAX_SUBJECTS = 20_000
/** Within this time a pause reaches every process, and counted calls that were not made are lost. */
const FRESH_MS = 2 * SECOND
/** The longest time for which a call waits to be counted. It is longer than MongoDB takes while it works. */
const LONGEST_WAIT_MS = 5 * SECOND

/** Counts the calls of this process before they are made, with as few commands to MongoDB as possible. */
export function createCallCounter({ platform, windows, observer }: CounterOptions) {
  const label = platformLabel(platform)
  /** When the platform accepts calls again, by subject; instants of `performance.now()`. Absent: it is not known. */
  const pauses = new LRUCache<string, number>({ max: MAX_SUBJECTS, ttl: FRESH_MS })
  /** The number of calls that are counted and not made, by subject and user. */
  const spares = new LRUCache<string, number>({ max: MAX_SUBJECTS, ttl: FRESH_MS })
  /** The limits that responses have stated, by subject and span. */
  const stated = new LRUCache<string, Record<string, number>>({ max: MAX_SUBJECTS })

  const getPauseMs = (key: string) => (pauses.get(key) ?? 0) - performance.now()

  /** A pause that began here may be newer than the answer of MongoDB. */
  function learnPause(key: string, ms: number): void {
    pauses.set(key, performance.now() + Math.max(ms, getPauseMs(key)))
  }

  function assertNotPaused(key: string, purpose: CallPurpose): void {
    const pauseMs = getPauseMs(key)
    if (pauseMs > 0) throw refuse(purpose, pauseMs)
  }

  function refuse(purpose: CallPurpose, waitMs: number): PlatformError {
    observer.callRefused(platform, purpose)
    const message =
      purpose === 'publishing'
        ? `${label} accepts no more calls for now`
        : `The remaining calls to ${label} are reserved for publishing`
    return new PlatformError('rate_limited', message, { certain: true, retryAfterMs: Math.max(1, Math.ceil(waitMs)) })
  }

  async function answerInTime<T>(answer: Promise<T>): Promise<T> {
    try {
      return await withDeadline(answer, LONGEST_WAIT_MS, () => new Error('MongoDB did not answer in time'))
    } catch (cause) {
      const message = `The quota of ${label} could not be checked in time`
      throw new PlatformError('transient', message, { certain: true, cause })
    }
  }

  async function count(subject: QuotaSubject, limits: CallLimit[], purpose: CallPurpose, user: string | null) {
    const { key } = subject
    const name = `${key} ${user ?? ''}`
    const spare = purpose === 'publishing' ? (spares.get(name) ?? 0) : 0
    if (spare > 0) return void spares.set(name, spare - 1, { noUpdateTTL: true })
    const block = toBlockSize(purpose, limits)
    const request = { limits, stated: stated.get(key) ?? {}, purpose, user, block }
    const grant = await answerInTime(windows.take(key, request))
    learnPause(key, grant.pauseMs)
    observer.callsCounted(platform, subject, grant.left)
    if (!grant.isGranted) throw refuse(purpose, grant.waitMs)
    if (grant.spare > 0) spares.set(name, grant.spare)
  }

  return {
    /** Counts one call. @throws PlatformError `rate_limited` when it must not be made, `transient` without MongoDB */
    async take(subject: QuotaSubject, purpose: CallPurpose, userId: string | undefined): Promise<void> {
      const { key } = subject
      assertNotPaused(key, purpose)
      const limits = subject.limits
        .map((one) => ({ ...one, limit: stated.get(key)?.[one.span] ?? one.limit }))
        .filter(({ limit }) => limit < Infinity)
      if (limits.length > 0) await count(subject, limits, purpose, toUser(key, userId))
      else if (!pauses.has(key)) learnPause(key, await answerInTime(windows.readPauseMs(key)))
      assertNotPaused(key, purpose)
    },

    /** Applies limits that a response states. */
    report({ key }: QuotaSubject, reported: readonly ReportedLimit[]): void {
      stated.set(key, { ...stated.get(key), ...Object.fromEntries(reported.map(({ span, limit }) => [span, limit])) })
    },

    /** Stops the calls of the subject in all processes, here immediately. */
    pause(subject: QuotaSubject, ms: number): void {
      // Several calls of one moment receive the same refusal.
      if (getPauseMs(subject.key) > 0) return
      learnPause(subject.key, ms)
      observer.paused(platform, subject, ms)
      // A pause that is lost costs another refusal, which repeats it.
      windows.pause(subject.key, ms).catch(() => undefined)
    },
  }
}

/** Returns one of 4,096 names, so that records stay small and reveal no user. Two users rarely share one. */
function toUser(key: string, userId: string | undefined): string | null {
  return userId === undefined || getScope(key) === 'account' ? null : hashText(userId).slice(0, 2)
}
