import type Stripe from 'stripe'
import type { CustomerRecord } from '../records.ts'
import { CURRENCY, type Wire } from './wire.ts'

export function customerShape(record: CustomerRecord) {
  if (record.isDeleted) {
    return { id: record.id, object: 'customer', deleted: true } satisfies Wire<Stripe.DeletedCustomer>
  }
  return {
    id: record.id,
    object: 'customer',
    address: null,
    balance: 0,
    created: record.createdAt,
    currency: CURRENCY,
    customer_account: null,
    default_source: null,
    delinquent: false,
    description: null,
    discount: null,
    email: record.email,
    invoice_prefix: record.id.slice(-8).toUpperCase(),
    invoice_settings: { custom_fields: null, default_payment_method: null, footer: null, rendering_options: null },
    livemode: false,
    metadata: {},
    name: null,
    phone: null,
    preferred_locales: [],
    shipping: null,
    tax_exempt: 'none',
    test_clock: null,
  } satisfies Wire<Stripe.Customer>
}
