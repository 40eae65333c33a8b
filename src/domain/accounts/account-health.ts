import { DAY } from '../shared/times.ts'

/** Stored health of a connection. `expiring` is derived from the time and never stored. */
export interface StoredHealth {
  status: 'active' | 'expired' | 'error'
  /** A sentence for users. */
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

/** A connection with this much time left, or less, is `expiring`. */
export const EXPIRING_MS = 7 * DAY

/**
 * Returns the health of a connection for API responses.
 * @param endsAt when the connection ends unless it is renewed; null when it does not end
 */
export function toAccountHealth(
  { status, lastError, checkedAt }: StoredHealth,
  endsAt: Date | null,
  now: Date,
): AccountHealth {
  const times = { checkedAt, expiresAt: endsAt }
  if (status !== 'active') return { status, needsReconnection: true, lastError, ...times }
  const leftMs = endsAt ? endsAt.getTime() - now.getTime() : Infinity
  if (leftMs <= 0)
    return {
      status: 'expired',
      needsReconnection: true,
      lastError: 'The connection has expired. Reconnect the account.',
      ...times,
    }
  return { status: leftMs <= EXPIRING_MS ? 'expiring' : 'active', needsReconnection: false, lastError, ...times }
}
