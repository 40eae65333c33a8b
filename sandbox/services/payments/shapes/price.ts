import type Stripe from 'stripe'
import type { AccountRecord } from '../records.ts'
import { CURRENCY, UNIT_AMOUNT, type Wire } from './wire.ts'

export function priceShape({ priceId, productId, createdAt }: AccountRecord) {
  return {
    id: priceId,
    object: 'price',
    active: true,
    billing_scheme: 'per_unit',
    created: createdAt,
    currency: CURRENCY,
    custom_unit_amount: null,
    livemode: false,
    lookup_key: null,
    metadata: {},
    nickname: 'Pro',
    product: productId,
    recurring: { interval: 'month', interval_count: 1, meter: null, trial_period_days: null, usage_type: 'licensed' },
    tax_behavior: 'unspecified',
    tiers_mode: null,
    transform_quantity: null,
    type: 'recurring',
    unit_amount: UNIT_AMOUNT,
    unit_amount_decimal: String(UNIT_AMOUNT),
  } satisfies Wire<Stripe.Price>
}

/** The older name of a price. */
export function planShape({ priceId, productId, createdAt }: AccountRecord) {
  return {
    id: priceId,
    object: 'plan',
    active: true,
    amount: UNIT_AMOUNT,
    amount_decimal: String(UNIT_AMOUNT),
    billing_scheme: 'per_unit',
    created: createdAt,
    currency: CURRENCY,
    interval: 'month',
    interval_count: 1,
    livemode: false,
    metadata: {},
    meter: null,
    nickname: 'Pro',
    product: productId,
    tiers_mode: null,
    transform_usage: null,
    trial_period_days: null,
    usage_type: 'licensed',
  } satisfies Wire<Stripe.Plan>
}
