import { DAY } from '../shared/times.ts'

/** What is stored about a connection's health. `expiring` is never stored: time alone makes and ends it. */
export interface StoredHealth {
  status: 'active' | 'expired' | 'error'
  /** A sentence for people. */
  lastError: string | null
  checkedAt: Date | null
}

export const ACCOUNT_HEALTH_STATUSES = ['active', 'expiring', 'expired', 'error'] as const

export interface AccountHealth {
  status: (typeof ACCOUNT_HEALTH_STATUSES)[number]
  needsReconnection: boolean
  lastError: string | null
  checkedAt: Date | null
  expiresAt: Date | null
}

/** With so much life left or less a connection is about to end. */
export const EXPIRING_MS = 7 * DAY

/** Health as a client sees it (contract section 5). `endsAt` is when the connection ends unless it is renewed before. */
export function toAccountHealth(
  { status, lastError, checkedAt }: StoredHealth,
  endsAt: Date | null,
  now: Date,
): AccountHealth {
  const seen = { checkedAt, expiresAt: endsAt }
  if (status !== 'active') return { status, needsReconnection: true, lastError, ...seen }
  const leftMs = endsAt ? endsAt.getTime() - now.getTime() : Infinity
  if (leftMs <= 0) return { status: 'expired', needsReconnection: true, lastError: 'The connection has ended', ...seen }
  return { status: leftMs <= EXPIRING_MS ? 'expiring' : 'active', needsReconnection: false, lastError, ...seen }
}
