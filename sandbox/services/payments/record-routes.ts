import { Type } from '@sinclair/typebox'
import { customerOf, metadata, optional, route, text, type ApiRoute } from './api-route.ts'
import { isLive } from './billing.ts'
import { noSuch, refused } from './errors.ts'
import type { Processor } from './processor.ts'
import type { SubscriptionRecord } from './records.ts'
import { listOf } from './shapes/wire.ts'

const USUAL_PAGE = 10
const page = {
  limit: optional(Type.Integer({ minimum: 1, maximum: 100 })),
  starting_after: optional(text),
}
const SubscriptionStatus = Type.Union(['active', 'past_due', 'canceled', 'all'].map((status) => Type.Literal(status)))

/** The routes of subscriptions, invoices, customers and prices. */
export function recordRoutes({ state, shapes, billing }: Processor): ApiRoute[] {
  const { account, subscriptions, invoices } = state

  function subscriptionOf(id: string): SubscriptionRecord {
    const found = subscriptions.get(id)
    if (!found || found.isForgotten) throw noSuch('subscription', id)
    return found
  }

  function changeSubscription(id: string, cancels: boolean | undefined, given: Record<string, string>) {
    const subscription = subscriptionOf(id)
    if (!isLive(subscription)) {
      throw refused(400, {
        message: 'A canceled subscription can only update its cancellation_details and metadata.',
      })
    }
    const merged = Object.entries({ ...subscription.metadata, ...given }).filter(([, value]) => value !== '')
    const changed = { metadata: Object.fromEntries(merged) }
    if (cancels === undefined || cancels === subscription.cancelAtPeriodEnd) return billing.update(id, changed)
    return billing.setCancelAtPeriodEnd(id, cancels, changed)
  }

  return [
    route(
      'GET',
      /^\/v1\/subscriptions$/,
      { ...page, customer: optional(text), status: optional(SubscriptionStatus) },
      ({ params: { customer, status, ...range }, shape }) => {
        if (customer !== undefined) customerOf(state, customer, 'customer')
        const found = subscriptions
          .values()
          .filter(({ isForgotten }) => !isForgotten)
          .filter(({ customerId }) => customer === undefined || customerId === customer)
          .filter((one) => (status === undefined ? isLive(one) : status === 'all' || one.status === status))
        return paged('/v1/subscriptions', found, range, (one) => shapes.subscription(one, shape))
      },
    ),
    route('GET', /^\/v1\/subscriptions\/([^/]+)$/, {}, ({ id, shape }) =>
      shapes.subscription(subscriptionOf(id), shape),
    ),
    route(
      'POST',
      /^\/v1\/subscriptions\/([^/]+)$/,
      { cancel_at_period_end: optional(Type.Boolean()), metadata: optional(metadata) },
      ({ id, params, shape }) =>
        shapes.subscription(changeSubscription(id, params.cancel_at_period_end, params.metadata ?? {}), shape),
    ),
    route(
      'DELETE',
      /^\/v1\/subscriptions\/([^/]+)$/,
      { invoice_now: optional(Type.Boolean()), prorate: optional(Type.Boolean()) },
      ({ id, shape }) => {
        // An ended subscription counts as missing.
        if (!isLive(subscriptionOf(id))) throw noSuch('subscription', id)
        return shapes.subscription(billing.end(id), shape)
      },
    ),
    route(
      'GET',
      /^\/v1\/invoices$/,
      { ...page, customer: optional(text), subscription: optional(text), status: optional(text) },
      ({ params: { customer, subscription, status, ...range }, shape }) => {
        const found = invoices
          .values()
          .filter((one) => customer === undefined || one.customerId === customer)
          .filter((one) => subscription === undefined || one.subscriptionId === subscription)
          .filter((one) => status === undefined || one.status === status)
        return paged('/v1/invoices', found, range, (one) => shapes.invoice(one, shape))
      },
    ),
    route('GET', /^\/v1\/invoices\/([^/]+)$/, {}, ({ id, shape }) => {
      const found = invoices.get(id)
      if (!found) throw noSuch('invoice', id)
      return shapes.invoice(found, shape)
    }),
    route('GET', /^\/v1\/customers\/([^/]+)$/, {}, ({ id }) => shapes.customer(customerOf(state, id))),
    route('DELETE', /^\/v1\/customers\/([^/]+)$/, {}, ({ id }) => {
      if (customerOf(state, id).isDeleted) throw noSuch('customer', id)
      billing.deleteCustomer(id)
      return { id, object: 'customer', deleted: true }
    }),
    route('GET', /^\/v1\/prices\/([^/]+)$/, {}, ({ id }) => {
      if (id !== account.priceId) throw noSuch('price', id)
      return shapes.price()
    }),
  ]
}

/** Returns a page of records, newest first like the real lists. */
function paged<T extends { id: string }>(
  url: string,
  found: T[],
  { limit = USUAL_PAGE, starting_after: after }: { limit?: number; starting_after?: string },
  show: (one: T) => object,
): object {
  const newest = found.toReversed()
  const from = after === undefined ? 0 : newest.findIndex(({ id }) => id === after) + 1
  return listOf(url, newest.slice(from, from + limit).map(show), newest.length > from + limit)
}
