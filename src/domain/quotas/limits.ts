import { DAY, HOUR, MINUTE } from '../shared/times.ts'

/** The number of calls that a platform accepts in a window, sliding or aligned to the clock. */
export interface CallLimit {
  /** Distinguishes the limits of one subject. It is part of a field name. */
  span: string
  /** The number of calls, unless a response reports another one. */
  limit: number
  windowMs: number
}

/** What a platform grants a quota to: an application, an account, or the address that calls a server. */
export interface QuotaSubject {
  key: string
  /** Empty where a platform announces its limits only by refusing calls. */
  limits: readonly CallLimit[]
}

type Scope = 'application' | 'account' | 'server'

/** Publishing may use a whole limit. */
export type CallPurpose = 'publishing' | 'counting'

/** The share of a limit that calls for counts may use. The rest is reserved for publishing. */
export const COUNTING_SHARE = 0.5

/** A limit that no count reaches, for servers whose limit is not known before they report it. */
export const UNLIMITED = 1_000_000_000

/** docs/reference/platforms.md */
export const CALL_LIMITS = {
  tumblrApplication: [
    { span: 'hour', limit: 1_000, windowMs: HOUR },
    { span: 'day', limit: 5_000, windowMs: DAY },
  ],
  mastodonAccount: [{ span: 'calls', limit: 300, windowMs: 5 * MINUTE }],
  mastodonMedia: [{ span: 'media', limit: 30, windowMs: 30 * MINUTE }],
  blueskyServer: [{ span: 'calls', limit: 3_000, windowMs: 5 * MINUTE }],
  unknownBlueskyServer: [{ span: 'calls', limit: UNLIMITED, windowMs: 5 * MINUTE }],
} as const satisfies Record<string, readonly CallLimit[]>

/** @param subject a hash, so that stored keys reveal no token */
export function toQuotaKey(group: string, scope: Scope, subject: string): string {
  return `${group}:${scope}:${subject}`
}

/** Returns whether a key is that of a whole deployment, whose quota all users share. */
export function isOfApplication(key: string): boolean {
  return key.split(':')[1] === ('application' satisfies Scope)
}

/** Returns how many calls of a limit are reserved for publishing. */
export function countReserved(limit: number): number {
  return limit - Math.floor(limit * COUNTING_SHARE)
}
