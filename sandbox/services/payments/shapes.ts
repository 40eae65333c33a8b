import { addMonths } from './calendar.ts'
import type {
  AccountRecord,
  CheckoutRecord,
  CustomerRecord,
  InvoiceRecord,
  PortalRecord,
  Seconds,
  SubscriptionRecord,
} from './records.ts'
import type { State } from './state.ts'

/** With 2025-03 periods moved to the subscription's items, and an invoice's subscription to its parent. */
export type ApiShape = 'old' | 'new'

/** `new` is the version that the installed package is pinned to. */
export const API_VERSIONS: Record<ApiShape, string> = { new: '2026-10-28.endive', old: '2024-06-20' }
const FIRST_NEW_VERSION = '2025-03-31'

export function shapeOf(version: string): ApiShape {
  return version < FIRST_NEW_VERSION ? 'old' : 'new'
}

const CURRENCY = 'usd'
export const UNIT_AMOUNT = 1_200

export function periodOf({ createdAt, periods }: SubscriptionRecord): { start: Seconds; end: Seconds } {
  return { start: addMonths(createdAt, periods - 1), end: addMonths(createdAt, periods) }
}

/** The processor's records as its API shows them. */
export function createShapes(
  { account, customers, subscriptions, invoices }: Pick<State, 'account' | 'customers' | 'subscriptions' | 'invoices'>,
  base: () => string,
) {
  function subscription(record: SubscriptionRecord, shape: ApiShape) {
    const { start, end } = periodOf(record)
    const period = { current_period_start: start, current_period_end: end }
    return {
      id: record.id,
      object: 'subscription',
      application: null,
      application_fee_percent: null,
      automatic_tax: { disabled_reason: null, enabled: false, liability: null },
      billing_cycle_anchor: record.createdAt,
      billing_cycle_anchor_config: null,
      ...(shape === 'new' && { billing_mode: { flexible: null, type: 'classic' }, billing_schedules: [] }),
      billing_thresholds: null,
      cancel_at: record.cancelAtPeriodEnd ? end : null,
      cancel_at_period_end: record.cancelAtPeriodEnd,
      canceled_at: record.canceledAt,
      cancellation_details: {
        comment: null,
        feedback: null,
        ...(shape === 'new' && { feedback_option: null }),
        reason: record.canceledAt === null ? null : 'cancellation_requested',
      },
      collection_method: 'charge_automatically',
      created: record.createdAt,
      currency: CURRENCY,
      ...(shape === 'old' && period),
      customer: record.customerId,
      ...(shape === 'new' && { customer_account: null }),
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
          ...(shape === 'new' && { ...period, current_trial: null }),
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
      ...(shape === 'new' && { managed_payments: { enabled: false } }),
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
      ...(shape === 'old' && { plan: planShape(account), quantity: 1 }),
      schedule: null,
      start_date: record.createdAt,
      status: record.status,
      test_clock: null,
      transfer_data: null,
      trial_end: null,
      trial_settings: { end_behavior: { missing_payment_method: 'create_invoice' } },
      trial_start: null,
    }
  }

  function invoice(record: InvoiceRecord, shape: ApiShape) {
    const isPaid = record.status === 'paid'
    const details = { metadata: record.metadata }
    return {
      id: record.id,
      object: 'invoice',
      account_country: 'US',
      account_name: 'postonce',
      account_tax_ids: null,
      amount_due: UNIT_AMOUNT,
      amount_overpaid: 0,
      amount_paid: isPaid ? UNIT_AMOUNT : 0,
      amount_remaining: isPaid ? 0 : UNIT_AMOUNT,
      amount_shipping: 0,
      application: null,
      attempt_count: record.attempts,
      attempted: true,
      auto_advance: record.nextAttemptAt !== null,
      automatic_tax: { disabled_reason: null, enabled: false, liability: null, provider: null, status: null },
      automatically_finalizes_at: null,
      billing_reason: record.reason,
      collection_method: 'charge_automatically',
      created: record.createdAt,
      currency: CURRENCY,
      custom_fields: null,
      customer: record.customerId,
      ...(shape === 'new' && { customer_account: null }),
      customer_address: null,
      customer_email: record.customerEmail,
      customer_name: null,
      customer_phone: null,
      customer_shipping: null,
      customer_tax_exempt: 'none',
      customer_tax_ids: [],
      default_payment_method: null,
      default_source: null,
      default_tax_rates: [],
      description: null,
      discounts: [],
      due_date: null,
      effective_at: record.createdAt,
      ending_balance: 0,
      footer: null,
      from_invoice: null,
      hosted_invoice_url: `${base()}/i/${record.id}`,
      invoice_pdf: null,
      issuer: SELF,
      last_finalization_error: null,
      latest_revision: null,
      lines: listOf(`/v1/invoices/${record.id}/lines`, [lineShape(record, account, shape)]),
      livemode: false,
      metadata: {},
      next_payment_attempt: record.nextAttemptAt,
      number: record.number,
      on_behalf_of: null,
      ...(shape === 'new'
        ? {
            parent: {
              quote_details: null,
              subscription_details: { ...details, subscription: record.subscriptionId },
              type: 'subscription_details',
            },
          }
        : {
            charge: null,
            discount: null,
            paid: isPaid,
            paid_out_of_band: false,
            payment_intent: null,
            quote: null,
            subscription: record.subscriptionId,
            subscription_details: details,
            tax: null,
          }),
      payment_settings: { default_mandate: null, payment_method_options: null, payment_method_types: null },
      // The invoice of a subscription covers what was used before it; what it asks for in advance stands in its lines.
      period_end: record.createdAt,
      period_start: record.reason === 'subscription_create' ? record.createdAt : addMonths(record.createdAt, -1),
      post_payment_credit_notes_amount: 0,
      pre_payment_credit_notes_amount: 0,
      receipt_number: null,
      rendering: null,
      shipping_cost: null,
      shipping_details: null,
      starting_balance: 0,
      statement_descriptor: null,
      status: record.status,
      status_transitions: {
        finalized_at: record.createdAt,
        marked_uncollectible_at: null,
        paid_at: record.paidAt,
        voided_at: null,
      },
      subtotal: UNIT_AMOUNT,
      subtotal_excluding_tax: UNIT_AMOUNT,
      test_clock: null,
      total: UNIT_AMOUNT,
      total_discount_amounts: [],
      total_excluding_tax: UNIT_AMOUNT,
      total_pretax_credit_amounts: [],
      ...(shape === 'new' ? { total_taxes: [] } : { total_tax_amounts: [], transfer_data: null }),
      webhooks_delivered_at: record.createdAt,
    }
  }

  function checkout(record: CheckoutRecord) {
    const isComplete = record.status === 'complete'
    return {
      id: record.id,
      object: 'checkout.session',
      adaptive_pricing: null,
      after_expiration: null,
      allow_promotion_codes: record.allowPromotionCodes || null,
      amount_subtotal: UNIT_AMOUNT * record.quantity,
      amount_total: UNIT_AMOUNT * record.quantity,
      automatic_tax: { enabled: false, liability: null, provider: null, status: null },
      billing_address_collection: null,
      cancel_url: record.cancelUrl,
      client_reference_id: record.clientReferenceId,
      client_secret: null,
      collected_information: null,
      consent: null,
      consent_collection: null,
      created: record.createdAt,
      currency: CURRENCY,
      currency_conversion: null,
      custom_fields: [],
      custom_text: { after_submit: null, shipping_address: null, submit: null, terms_of_service_acceptance: null },
      customer: record.customerId,
      customer_account: null,
      customer_creation: record.customerId === null || isComplete ? 'always' : null,
      customer_details: record.customerEmail === null ? null : customerDetails(record.customerEmail),
      customer_email: record.customerEmail,
      discounts: [],
      expires_at: record.expiresAt,
      invoice: record.invoiceId,
      invoice_creation: null,
      livemode: false,
      locale: null,
      managed_payments: { enabled: false },
      metadata: record.metadata,
      mode: 'subscription',
      origin_context: null,
      payment_intent: null,
      payment_link: null,
      payment_method_collection: 'always',
      payment_method_configuration_details: null,
      payment_method_options: { card: { request_three_d_secure: 'automatic' } },
      payment_method_types: ['card'],
      payment_status: isComplete ? 'paid' : 'unpaid',
      permissions: null,
      phone_number_collection: { enabled: false },
      recovered_from: null,
      saved_payment_method_options: {
        allow_redisplay_filters: ['always'],
        payment_method_remove: 'disabled',
        payment_method_save: null,
      },
      setup_intent: null,
      shipping_address_collection: null,
      shipping_cost: null,
      shipping_options: [],
      status: record.status,
      submit_type: null,
      subscription: record.subscriptionId,
      success_url: record.successUrl,
      total_details: { amount_discount: 0, amount_shipping: 0, amount_tax: 0 },
      ui_mode: 'hosted_page',
      // Only while it can be paid.
      url: record.status === 'open' ? `${base()}/c/pay/${record.id}` : null,
      wallet_options: null,
    }
  }

  function portal(record: PortalRecord) {
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
      url: `${base()}/p/session/${record.id}`,
    }
  }

  return {
    subscription,
    invoice,
    checkout,
    portal,
    customer: customerShape,
    price: () => priceShape(account),
    /** Whatever has this id; what the processor has forgotten has none. */
    byId(id: string, shape: ApiShape): object | null {
      const foundSubscription = subscriptions.get(id)
      if (foundSubscription) return foundSubscription.isForgotten ? null : subscription(foundSubscription, shape)
      const foundInvoice = invoices.get(id)
      if (foundInvoice) return invoice(foundInvoice, shape)
      const foundCustomer = customers.get(id)
      return foundCustomer ? customerShape(foundCustomer) : null
    },
  }
}

export type Shapes = ReturnType<typeof createShapes>

const SELF = { type: 'self' }

export function listOf(url: string, data: object[], hasMore = false) {
  return { object: 'list', data, has_more: hasMore, url }
}

function customerShape(record: CustomerRecord): object {
  if (record.isDeleted) return { id: record.id, object: 'customer', deleted: true }
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
  }
}

function customerDetails(email: string): object {
  return {
    address: null,
    business_name: null,
    email,
    individual_name: null,
    name: null,
    phone: null,
    tax_exempt: 'none',
    tax_ids: null,
  }
}

function priceShape({ priceId, productId, createdAt }: AccountRecord) {
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
  }
}

function planShape({ priceId, productId, createdAt }: AccountRecord) {
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
  }
}

function lineShape(record: InvoiceRecord, account: AccountRecord, shape: ApiShape) {
  const { subscriptionId, itemId } = record
  return {
    id: record.lineId,
    object: 'line_item',
    amount: UNIT_AMOUNT,
    currency: CURRENCY,
    description: '1 × Pro',
    discount_amounts: [],
    discountable: true,
    discounts: [],
    invoice: record.id,
    livemode: false,
    metadata: record.metadata,
    period: { end: record.periodEnd, start: record.periodStart },
    pretax_credit_amounts: [],
    quantity: 1,
    subscription: subscriptionId,
    ...(shape === 'new'
      ? {
          parent: {
            invoice_item_details: null,
            subscription_item_details: {
              invoice_item: null,
              proration: false,
              proration_details: null,
              subscription: subscriptionId,
              subscription_item: itemId,
            },
            type: 'subscription_item_details',
          },
          pricing: {
            price_details: { price: account.priceId, product: account.productId },
            type: 'price_details',
            unit_amount_decimal: String(UNIT_AMOUNT),
          },
          subtotal: UNIT_AMOUNT,
          taxes: [],
        }
      : {
          plan: planShape(account),
          price: priceShape(account),
          proration: false,
          proration_details: { credited_items: null },
          subscription_item: itemId,
          tax_amounts: [],
          tax_rates: [],
          type: 'subscription',
        }),
  }
}
