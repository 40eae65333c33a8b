import { randomBytes } from 'node:crypto'
import { openTables } from '../../platforms/shared/tables.ts'
import type {
  AccountRecord,
  CheckoutRecord,
  CustomerRecord,
  EventRecord,
  InvoiceRecord,
  StoredResponse,
  PortalRecord,
  SubscriptionRecord,
} from './records.ts'

/** The processor's stored data. */
export function openState(file: string) {
  const table = openTables(file)
  const accounts = table<AccountRecord>('account')

  return {
    /** Our account at the processor. */
    account: accounts.get('own') ?? accounts.set('own', makeAccount()),
    /** How far the processor's clock is ahead of the real one. */
    clock: table<number>('clock'),
    customers: table<CustomerRecord>('customers'),
    subscriptions: table<SubscriptionRecord>('subscriptions'),
    invoices: table<InvoiceRecord>('invoices'),
    checkouts: table<CheckoutRecord>('checkouts'),
    portals: table<PortalRecord>('portals'),
    events: table<EventRecord>('events'),
    /** Stored responses by idempotency key. */
    answers: table<StoredResponse>('answers'),
  }
}

export type State = ReturnType<typeof openState>

export function newId(prefix: string): string {
  return `${prefix}_${randomBytes(18).toString('hex').slice(0, 24)}`
}

function makeAccount(): AccountRecord {
  return {
    secretKey: `sk_test_${randomBytes(24).toString('hex')}`,
    webhookSecret: `whsec_${randomBytes(24).toString('hex')}`,
    priceId: newId('price'),
    productId: newId('prod'),
    createdAt: Math.floor(Date.now() / 1_000),
  }
}
