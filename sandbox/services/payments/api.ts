import { randomBytes } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import { Type, type Static, type TObject, type TProperties, type TSchema } from '@sinclair/typebox'
import { RefusedCall } from '../../platforms/shared/refused-call.ts'
import type { Call, Route, SimulatorAnswer } from '../../platforms/shared/server.ts'
import { isLive } from './billing.ts'
import { noSuch, refused } from './errors.ts'
import { expand } from './expand.ts'
import { createIdempotency } from './idempotency.ts'
import { nest, readAs } from './params.ts'
import type { Processor } from './processor.ts'
import type { CustomerRecord, SubscriptionRecord } from './records.ts'
import { API_VERSIONS, shapeOf, type ApiShape } from './shapes.ts'
import { listOf } from './shapes/wire.ts'

interface ApiCall<P> {
  /** Of what the address names. */
  id: string
  params: P
  shape: ApiShape
}

type ApiRoute = [method: string, path: RegExp, params: TSchema, run: (call: ApiCall<never>) => object]

const closed = { additionalProperties: false }
const optional = Type.Optional
const text = Type.String({ minLength: 1 })
const metadata = Type.Record(Type.String({ maxLength: 40 }), Type.String({ maxLength: 500 }), { maxProperties: 50 })
const page = {
  limit: optional(Type.Integer({ minimum: 1, maximum: 100 })),
  starting_after: optional(text),
}
const USUAL_PAGE = 10
const HALF_HOUR = 1_800
const DAY = 86_400

const checkoutParams = {
  mode: Type.Literal('subscription'),
  line_items: Type.Array(Type.Object({ price: text, quantity: optional(Type.Integer({ minimum: 1 })) }, closed), {
    minItems: 1,
    maxItems: 1,
  }),
  success_url: text,
  cancel_url: optional(text),
  customer: optional(text),
  customer_email: optional(text),
  client_reference_id: optional(Type.String({ minLength: 1, maxLength: 200 })),
  allow_promotion_codes: optional(Type.Boolean()),
  expires_at: optional(Type.Integer()),
  metadata: optional(metadata),
  subscription_data: optional(Type.Object({ metadata: optional(metadata) }, closed)),
}

const SubscriptionStatus = Type.Union(['active', 'past_due', 'canceled', 'all'].map((status) => Type.Literal(status)))

interface ApiDeps {
  processor: Processor
  workMs: number
}

/** What our service may call of the real API. Parameters it does not use are refused, as unknown ones are. */
export function apiRoutes({ processor, workMs }: ApiDeps): Route[] {
  const { state, shapes, clock, billing, checkouts, portals, settle } = processor
  const { account, customers, subscriptions, invoices } = state
  const once = createIdempotency({ answers: state.answers, workMs })

  function subscriptionOf(id: string): SubscriptionRecord {
    const found = subscriptions.get(id)
    if (!found || found.isForgotten) throw noSuch('subscription', id)
    return found
  }

  function customerOf(id: string, param?: string): CustomerRecord {
    const found = customers.get(id)
    if (!found || (found.isDeleted && param !== undefined)) throw noSuch('customer', id, param)
    return found
  }

  function createCheckout({ params }: ApiCall<Static<TObject<typeof checkoutParams>>>): object {
    const [item] = params.line_items
    if (item!.price !== account.priceId) throw noSuch('price', item!.price, 'line_items[0][price]')
    if (params.customer !== undefined && params.customer_email !== undefined) {
      throw refused(400, { message: 'You may only specify one of these parameters: customer, customer_email.' })
    }
    const customer = params.customer === undefined ? null : customerOf(params.customer, 'customer')
    if (params.customer_email !== undefined && !/^[^@\s]+@[^@\s]+$/.test(params.customer_email)) {
      throw refused(400, {
        code: 'email_invalid',
        message: `Invalid email address: ${params.customer_email}`,
        param: 'customer_email',
      })
    }
    for (const param of ['success_url', 'cancel_url'] as const) assertUrl(params[param], param)
    const expiresIn = (params.expires_at ?? clock.now() + DAY) - clock.now()
    if (expiresIn < HALF_HOUR || expiresIn > DAY) {
      throw refused(400, {
        message: 'The `expires_at` timestamp must be between 30 minutes and 24 hours from Checkout Session creation.',
        param: 'expires_at',
      })
    }
    return shapes.checkout(
      checkouts.create({
        expiresAt: params.expires_at ?? null,
        customerId: customer?.id ?? null,
        customerEmail: params.customer_email ?? null,
        clientReferenceId: params.client_reference_id ?? null,
        metadata: params.metadata ?? {},
        subscriptionMetadata: params.subscription_data?.metadata ?? {},
        quantity: item!.quantity ?? 1,
        allowPromotionCodes: params.allow_promotion_codes ?? false,
        successUrl: params.success_url,
        cancelUrl: params.cancel_url ?? null,
      }),
    )
  }

  function checkoutOf(id: string) {
    const found = state.checkouts.get(id)
    if (!found) throw noSuch('checkout.session', id)
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

  const routes = [
    route('POST', /^\/v1\/checkout\/sessions$/, checkoutParams, createCheckout),
    route('GET', /^\/v1\/checkout\/sessions\/([^/]+)$/, {}, ({ id }) => shapes.checkout(checkoutOf(id))),
    route('POST', /^\/v1\/checkout\/sessions\/([^/]+)\/expire$/, {}, ({ id }) => {
      if (checkoutOf(id).status !== 'open') {
        throw refused(400, {
          message: `Only Checkout Sessions with a status in ["open"] can be expired. This Session has a status of ${checkoutOf(id).status}.`,
        })
      }
      return shapes.checkout(checkouts.expire(id))
    }),
    route(
      'POST',
      /^\/v1\/billing_portal\/sessions$/,
      { customer: text, return_url: optional(text) },
      ({ params: { customer, return_url: returnUrl } }) => {
        assertUrl(returnUrl, 'return_url')
        return shapes.portal(portals.create(customerOf(customer, 'customer').id, returnUrl ?? null))
      },
    ),
    route(
      'GET',
      /^\/v1\/subscriptions$/,
      { ...page, customer: optional(text), status: optional(SubscriptionStatus) },
      ({ params: { customer, status, ...range }, shape }) => {
        if (customer !== undefined) customerOf(customer, 'customer')
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
        // One that has ended is as good as none.
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
    route('GET', /^\/v1\/customers\/([^/]+)$/, {}, ({ id }) => shapes.customer(customerOf(id))),
    route('DELETE', /^\/v1\/customers\/([^/]+)$/, {}, ({ id }) => {
      if (customerOf(id).isDeleted) throw noSuch('customer', id)
      billing.deleteCustomer(id)
      return { id, object: 'customer', deleted: true }
    }),
    route('GET', /^\/v1\/prices\/([^/]+)$/, {}, ({ id }) => {
      if (id !== account.priceId) throw noSuch('price', id)
      return shapes.price()
    }),
  ]

  async function answer([method, path, schema, run]: ApiRoute, call: Call): Promise<SimulatorAnswer> {
    assertKey(call.request, account.secretKey)
    const version = headerOf(call.request, 'stripe-version') ?? API_VERSIONS.new
    if (!/^\d{4}-\d{2}-\d{2}([.]\w+)?$/.test(version)) {
      throw refused(400, { message: `Invalid Stripe API version: ${version}` })
    }
    const shape = shapeOf(version)
    const given = nest([...call.url.searchParams, ...call.params.fields])
    const params = readAs(schema, given) as { expand?: string[] }
    const id = decodeURIComponent(call.id)

    function work() {
      settle()
      const requestId = `req_${randomBytes(7).toString('hex')}`
      try {
        const found = run({ id, params, shape } as ApiCall<never>)
        return { status: 200, body: expand(found, params.expand ?? [], (ref) => shapes.byId(ref, shape)), requestId }
      } catch (error) {
        if (!(error instanceof RefusedCall)) throw error
        return { status: error.answer.status, body: error.answer.body, requestId }
      }
    }

    const key = method === 'POST' ? headerOf(call.request, 'idempotency-key') : undefined
    const asked = [method, path.source, id, given, version]
    const done = key === undefined ? { ...work(), isReplay: false } : await once(key, asked, work)
    return {
      status: done.status,
      body: done.body,
      headers: {
        'request-id': done.requestId,
        'stripe-version': version,
        ...(key !== undefined && { 'idempotency-key': key, 'original-request': done.requestId }),
        ...(done.isReplay && { 'idempotent-replayed': 'true' }),
      },
    }
  }

  return routes.map((one): Route => [one[0], one[1], (call) => answer(one, call)])
}

function route<P extends TProperties>(
  method: string,
  path: RegExp,
  properties: P,
  run: (call: ApiCall<Static<TObject<P>>>) => object,
): ApiRoute {
  const params = Type.Object({ ...properties, expand: optional(Type.Array(text)) }, closed)
  return [method, path, params, run]
}

function assertKey(request: IncomingMessage, secretKey: string): void {
  const [, key] = /^Bearer (.+)$/.exec(request.headers.authorization ?? '') ?? []
  if (key === secretKey) return
  const message =
    key === undefined
      ? 'You did not provide an API key. You need to provide your API key in the Authorization header, using Bearer auth.'
      : `Invalid API Key provided: ${key.slice(0, 8)}${'*'.repeat(12)}${key.slice(-4)}`
  throw refused(401, { message })
}

function assertUrl(value: string | undefined, param: string): void {
  if (value === undefined || /^https?:\/\/[^\s/]+/.test(value)) return
  throw refused(400, { code: 'url_invalid', message: 'Not a valid URL', param })
}

function headerOf({ headers }: IncomingMessage, name: string): string | undefined {
  const value = headers[name]
  return typeof value === 'string' ? value : undefined
}

/** Newest first, as the real lists are. */
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
