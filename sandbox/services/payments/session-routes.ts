import { Type, type Static, type TObject } from '@sinclair/typebox'
import { closed, customerOf, metadata, optional, route, text, type ApiCall, type ApiRoute } from './api-route.ts'
import { noSuch, refused } from './errors.ts'
import type { Processor } from './processor.ts'
import type { CheckoutRecord } from './records.ts'

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

/** The routes of checkout and portal sessions. */
export function sessionRoutes({ state, shapes, clock, checkouts, portals }: Processor): ApiRoute[] {
  function checkoutOf(id: string): CheckoutRecord {
    const found = state.checkouts.get(id)
    if (!found) throw noSuch('checkout.session', id)
    return found
  }

  function createCheckout({ params }: ApiCall<Static<TObject<typeof checkoutParams>>>): object {
    const [item] = params.line_items
    if (item!.price !== state.account.priceId) throw noSuch('price', item!.price, 'line_items[0][price]')
    if (params.customer !== undefined && params.customer_email !== undefined) {
      throw refused(400, { message: 'You may only specify one of these parameters: customer, customer_email.' })
    }
    const customer = params.customer === undefined ? null : customerOf(state, params.customer, 'customer')
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

  return [
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
        return shapes.portal(portals.create(customerOf(state, customer, 'customer').id, returnUrl ?? null))
      },
    ),
  ]
}

function assertUrl(value: string | undefined, param: string): void {
  if (value === undefined || /^https?:\/\/[^\s/]+/.test(value)) return
  throw refused(400, { code: 'url_invalid', message: 'Not a valid URL', param })
}
