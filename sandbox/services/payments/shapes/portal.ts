import type Stripe from 'stripe'
import type { AccountRecord, PortalRecord } from '../records.ts'
import type { Wire } from './wire.ts'

export function portalShape(record: PortalRecord, account: AccountRecord, base: string) {
  return {
    id: record.id,
    object: 'billing_portal.session',
    configuration: `bpc_${account.productId.slice('prod_'.length)}`,
    created: record.createdAt,
    customer: record.customerId,
    customer_account: null,
    flow: null,
    livemode: false,
    locale: null,
    on_behalf_of: null,
    return_url: record.returnUrl,
    url: `${base}/p/session/${record.id}`,
  } satisfies Wire<Stripe.BillingPortal.Session>
}
