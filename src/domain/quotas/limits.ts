import { DAY, HOUR, MINUTE, SECOND } from '../shared/times.ts'

/** The number of calls that a platform accepts in a window. */
export interface CallLimit {
  /** Distinguishes the limits of one subject. It is part of a field name. */
  span: string
  /** The number of calls, unless a response states another one. Infinity: unlimited until then. */
  limit: number
  windowMs: number
}

/** A limit as a response states it. */
export interface ReportedLimit extends Pick<CallLimit, 'span' | 'limit'> {
  remaining: number
  /** The time until the platform grants the whole limit again, milliseconds. */
  resetsInMs: number
}

/** What a platform grants a quota to: an application, an account, or the address that calls a server. */
export interface QuotaSubject {
  /** Its second part, between colons, is the scope. */
  key: string
  /** Empty where a platform announces its limits only by refusing calls. */
  limits: readonly CallLimit[]
}

export type QuotaScope = 'application' | 'account' | 'server'

/** Publishing may use a whole limit. */
export type CallPurpose = 'publishing' | 'counting'

/** The share of a limit that calls for counts may use. The rest is reserved for publishing. */
export const COUNTING_SHARE = 0.5

/** The share of a limit that the only user of a window may use where all users share it. */
export const LONE_USER_SHARE = 0.75

/** The share that a user may use of what the other users left of a limit, once there are others. */
export const USER_SHARE = 0.5

/** docs/reference/platforms.md */
export const CALL_LIMITS = {
  tumblrApplication: [
    { span: 'hour', limit: 1_000, windowMs: HOUR },
    { span: 'day', limit: 5_000, windowMs: DAY },
  ],
  mastodonAccount: [{ span: 'calls', limit: 300, windowMs: 5 * MINUTE }],
  mastodonMedia: [{ span: 'media', limit: 30, windowMs: 30 * MINUTE }],
  blueskyServer: [{ span: 'calls', limit: 3_000, windowMs: 5 * MINUTE }],
  unknownBlueskyServer: [{ span: 'calls', limit: Infinity, windowMs: 5 * MINUTE }],
} as const satisfies Record<string, readonly CallLimit[]>

/** Returns what the quota of a key is granted to. All users share that of an application or a server. */
export function getScope(key: string): QuotaScope {
  return key.split(':')[1] as QuotaScope
}

/** The calls that most publications make, at most. */
const CALLS_PER_PUBLICATION = 4

/** Returns how many calls one command counts: several where limits renew so fast that a few unused calls are no loss. */
export function toBlockSize(purpose: CallPurpose, limits: readonly CallLimit[]): number {
  const isRenewedFast = limits.every(({ limit, windowMs }) => limit * SECOND >= windowMs)
  return purpose === 'publishing' && isRenewedFast ? CALLS_PER_PUBLICATION : 1
}

/** A call to count. */
export interface CallRequest {
  limits: readonly CallLimit[]
  /** The limits that responses have stated, by span. They replace the others for all processes. */
  stated: Readonly<Record<string, number>>
  purpose: CallPurpose
  /** Names the user whose share the call uses; null: no share is counted. It is part of a field name. */
  user: string | null
  /** How many calls of the user to count together; only those that wait, once half of a limit is used. */
  block: number
}

export interface CallGrant {
  isGranted: boolean
  /** The time until a refused call can be granted, milliseconds. */
  waitMs: number
  /** The time for which the platform accepts no calls, milliseconds; 0 when it does. */
  pauseMs: number
  /** Calls that were counted beyond this one. */
  spare: number
  /** The share of each limit that is left, by span. */
  left: Record<string, number>
}

/** The calls of all processes, by the key of their subject. */
export interface CallWindows {
  /** Counts a call, unless a limit, a share or a pause forbids it. */
  take(key: string, request: CallRequest): Promise<CallGrant>
  /** Returns the time for which the platform accepts no calls, milliseconds; 0 when it does. */
  readPauseMs(key: string): Promise<number>
  /** Stops the calls of all processes, for a day at most. */
  pause(key: string, ms: number): Promise<void>
  /** Returns when a server worked again after an outage, as any process saw it last; null when none is recorded. */
  readReturn(server: string): Promise<Date | null>
  /** Records that a server works again. Returns false when a return after `since` is recorded already. */
  saveReturn(server: string, since: Date, at: Date): Promise<boolean>
}
