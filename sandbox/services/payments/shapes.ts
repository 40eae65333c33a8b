import type { CheckoutRecord, InvoiceRecord, PortalRecord, SubscriptionRecord } from './records.ts'
import { checkoutShape } from './shapes/checkout.ts'
import { customerShape } from './shapes/customer.ts'
import { invoiceShape } from './shapes/invoice.ts'
import { oldInvoice, oldSubscription } from './shapes/old.ts'
import { portalShape } from './shapes/portal.ts'
import { priceShape } from './shapes/price.ts'
import { subscriptionShape } from './shapes/subscription.ts'
import type { State } from './state.ts'

/** API version 2025-03 moves periods to the subscription's items, and an invoice's subscription to its parent. */
export type ApiShape = 'old' | 'new'

/** `new` is the version that the installed package is pinned to. */
export const API_VERSIONS: Record<ApiShape, string> = { new: '2026-10-28.endive', old: '2024-06-20' }
const FIRST_NEW_VERSION = '2025-03-31'

export function shapeOf(version: string): ApiShape {
  return version < FIRST_NEW_VERSION ? 'old' : 'new'
}

/** Converts the processor's records to the API's objects. */
export function createShapes({ account, customers, subscriptions, invoices }: State, base: () => string) {
  function subscription(record: SubscriptionRecord, shape: ApiShape): object {
    const shown = subscriptionShape(record, account)
    return shape === 'new' ? shown : oldSubscription(shown, record, account)
  }

  function invoice(record: InvoiceRecord, shape: ApiShape): object {
    const shown = invoiceShape(record, account, base())
    return shape === 'new' ? shown : oldInvoice(shown, record, account)
  }

  return {
    subscription,
    invoice,
    checkout(record: CheckoutRecord): object {
      const customer = record.customerId === null ? undefined : customers.get(record.customerId)
      return checkoutShape(record, customer?.email ?? record.customerEmail, base())
    },
    portal: (record: PortalRecord): object => portalShape(record, account, base()),
    customer: customerShape,
    price: (): object => priceShape(account),

    /** Returns the object with this id, unless the processor has forgotten it. */
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
