import type { Platform } from '../shared/platforms.ts'
import { toEventId, type NewEvent } from './events.ts'

/** The parts of an account that its events describe. */
export interface EventAccount {
  _id: string
  platform: Platform
  /** Never repeats among the accounts of a user on a platform. */
  version: number
  connected: boolean
  handle?: string
  server?: string | null
  connectedAt?: Date
}

/** Derives the events of a change by comparing all accounts of a user before and after. Connecting an account again is `account.connected`. */
export function deriveAccountEvents(
  before: readonly EventAccount[],
  after: readonly EventAccount[],
  at: Date,
): NewEvent[] {
  const known = new Map(before.map((account) => [account._id, account]))
  return after.flatMap((account): NewEvent[] => {
    const old = known.get(account._id)
    if (account.connected && !(old?.connected && old.version === account.version)) {
      return [accountEvent('account.connected', account, at)]
    }
    return old?.connected && !account.connected ? [accountEvent('account.disconnected', old, at)] : []
  })
}

/** Returns the event of a login that the platform has refused. */
export function accountExpired(account: EventAccount, at: Date): NewEvent {
  return accountEvent('account.expired', account, at)
}

/** Returns the event of a connection that ends soon. Every warning about the same end has the same id. */
export function accountExpiring(account: EventAccount, endsAt: Date, at: Date): NewEvent {
  const event = accountEvent('account.expiring', account, at)
  const id = toEventId(account._id, account.version, 'expiring', endsAt.getTime())
  return { ...event, id, data: { ...event.data, endsAt: endsAt.toISOString() } }
}

function accountEvent(
  type: 'account.connected' | 'account.disconnected' | 'account.expired' | 'account.expiring',
  { _id: accountId, platform, version, handle, server = null }: EventAccount,
  occurredAt: Date,
): NewEvent {
  // A login may be refused, succeed and be refused again at the same version.
  const id = toEventId(accountId, version, type.slice('account.'.length), occurredAt.getTime())
  return { id, type, occurredAt, data: { accountId, platform, accountName: handle ?? null, server } }
}
