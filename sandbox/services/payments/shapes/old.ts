import type { AccountRecord, InvoiceRecord, SubscriptionRecord } from '../records.ts'
import type { invoiceShape } from './invoice.ts'
import { planShape, priceShape } from './price.ts'
import { periodOf, type subscriptionShape } from './subscription.ts'

/** Converts to versions before 2025-03: the subscription itself holds the period. */
export function oldSubscription(
  shown: ReturnType<typeof subscriptionShape>,
  record: SubscriptionRecord,
  account: AccountRecord,
) {
  const { billing_mode: _mode, billing_schedules: _schedules, customer_account: _account, ...rest } = shown
  const { managed_payments: _managed, items, ...same } = rest
  const { start, end } = periodOf(record)
  const data = items.data.map(
    ({ current_period_start: _start, current_period_end: _end, current_trial: _trial, ...item }) => item,
  )
  return {
    ...same,
    current_period_end: end,
    current_period_start: start,
    items: { ...items, data },
    plan: planShape(account),
    quantity: 1,
  }
}

/** Converts to versions before 2025-03: the invoice names its subscription and has `paid`. */
export function oldInvoice(shown: ReturnType<typeof invoiceShape>, record: InvoiceRecord, account: AccountRecord) {
  const { customer_account: _account, parent: _parent, total_taxes: taxes, lines, ...same } = shown
  const data = lines.data.map(
    ({ parent: _of, pricing: _price, subtotal: _sum, taxes: _taxes, quantity_decimal: _quantity, ...line }) => ({
      ...line,
      plan: planShape(account),
      price: priceShape(account),
      proration: false,
      proration_details: { credited_items: null },
      subscription_item: record.itemId,
      tax_amounts: [],
      tax_rates: [],
      type: 'subscription',
    }),
  )
  return {
    ...same,
    charge: null,
    discount: null,
    lines: { ...lines, data },
    paid: record.status === 'paid',
    paid_out_of_band: false,
    payment_intent: null,
    quote: null,
    subscription: record.subscriptionId,
    subscription_details: { metadata: record.metadata },
    tax: null,
    total_tax_amounts: taxes,
    transfer_data: null,
  }
}
