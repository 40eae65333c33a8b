import type Stripe from 'stripe'
import { addMonths } from '../calendar.ts'
import type { AccountRecord, Seconds, SubscriptionRecord } from '../records.ts'
import { planShape, priceShape } from './price.ts'
import { CURRENCY, listOf, SELF, type Wire } from './wire.ts'

interface Period {
  start: Seconds
  end: Seconds
  /** Start of the previous period; the first period has none. */
  previousStart: Seconds
}

export function periodOf({ createdAt, periods, periodEnd }: SubscriptionRecord): Period {
  return {
    start: addMonths(createdAt, periods - 1),
    end: periodEnd,
    previousStart: addMonths(createdAt, Math.max(periods - 2, 0)),
  }
}

export function subscriptionShape(record: SubscriptionRecord, account: AccountRecord) {
  const { start, end } = periodOf(record)
  return {
    id: record.id,
    object: 'subscription',
    application: null,
    application_fee_percent: null,
    automatic_tax: { disabled_reason: null, enabled: false, liability: null },
    billing_cycle_anchor: record.createdAt,
    billing_cycle_anchor_config: null,
    billing_mode: { flexible: null, type: 'classic' },
    billing_schedules: [],
    billing_thresholds: null,
    cancel_at: record.cancelAtPeriodEnd ? end : null,
    cancel_at_period_end: record.cancelAtPeriodEnd,
    canceled_at: record.canceledAt,
    cancellation_details: {
      comment: null,
      feedback: null,
      feedback_option: null,
      reason: record.canceledAt === null ? null : 'cancellation_requested',
    },
    collection_method: 'charge_automatically',
    created: record.createdAt,
    currency: CURRENCY,
    customer: record.customerId,
    customer_account: null,
    days_until_due: null,
    default_payment_method: null,
    default_source: null,
    default_tax_rates: [],
    description: null,
    discounts: [],
    ended_at: record.endedAt,
    invoice_settings: { account_tax_ids: null, custom_fields: null, description: null, footer: null, issuer: SELF },
    items: listOf(`/v1/subscription_items?subscription=${record.id}`, [
      {
        id: record.itemId,
        object: 'subscription_item',
        billing_thresholds: null,
        created: record.createdAt,
        current_period_end: end,
        current_period_start: start,
        current_trial: null,
        discounts: [],
        metadata: {},
        plan: planShape(account),
        price: priceShape(account),
        quantity: 1,
        subscription: record.id,
        tax_rates: [],
      },
    ]),
    latest_invoice: record.latestInvoiceId,
    livemode: false,
    managed_payments: { enabled: false },
    metadata: record.metadata,
    next_pending_invoice_item_invoice: null,
    on_behalf_of: null,
    pause_collection: null,
    payment_settings: {
      payment_method_options: null,
      payment_method_types: null,
      save_default_payment_method: 'off',
    },
    pending_invoice_item_interval: null,
    pending_setup_intent: null,
    pending_update: null,
    schedule: null,
    start_date: record.createdAt,
    status: record.status,
    test_clock: null,
    transfer_data: null,
    trial_end: null,
    trial_settings: { end_behavior: { billing_cycle_anchor: null, missing_payment_method: 'create_invoice' } },
    trial_start: null,
  } satisfies Wire<Stripe.Subscription>
}
