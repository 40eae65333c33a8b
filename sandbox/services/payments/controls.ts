import { Type, type Static, type TSchema } from '@sinclair/typebox'
import { Value } from '@sinclair/typebox/value'
import { type Control, ControlError } from '../../platforms/proxied-platform.ts'
import { isLive } from './billing.ts'
import type { Processor } from './processor.ts'
import type { Card, CheckoutRecord, EventRecord } from './records.ts'
import type { createWebhooks } from './webhooks.ts'

const closed = { additionalProperties: false }
const optional = Type.Optional

const CardSchema = Type.Union([Type.Literal('works'), Type.Literal('fails')])
const PaySchema = Type.Object({ card: optional(CardSchema) }, closed)
const CardChoiceSchema = Type.Object({ card: CardSchema }, closed)
const AdvanceSchema = Type.Union([
  Type.Object({ advanceMs: Type.Integer({ minimum: 0 }) }, closed),
  Type.Object({ to: Type.String() }, closed),
])
const WebhooksSchema = Type.Object(
  {
    held: optional(Type.Boolean()),
    apiShape: optional(Type.Union([Type.Literal('old'), Type.Literal('new')])),
  },
  closed,
)
const InvoicesSchema = Type.Object({ draftSeconds: Type.Integer({ minimum: 0 }) }, closed)
const SubscribeSchema = Type.Object(
  { userId: Type.String(), email: Type.String(), customerId: optional(Type.String()) },
  closed,
)
const DeliverSchema = Type.Object({ ids: Type.Array(Type.String()) }, closed)

interface ControlsDeps {
  processor: Processor
  webhooks: ReturnType<typeof createWebhooks>
}

/** The actions of tests and people on the processor and its customers, besides those on the pages. */
export function createControls({ processor, webhooks }: ControlsDeps) {
  const { state, clock, events, billing, checkouts, advanceToNow } = processor

  function openCheckout(id: string): CheckoutRecord {
    advanceToNow()
    const found = found404(state.checkouts.get(id), id)
    if (found.status !== 'open') throw new ControlError(409, `The session is ${found.status}`)
    return found
  }

  function liveSubscription(id: string) {
    advanceToNow()
    const found = found404(state.subscriptions.get(id), id)
    if (!isLive(found)) throw new ControlError(409, 'The subscription has ended')
    return found
  }

  function customer(id: string) {
    advanceToNow()
    const found = found404(state.customers.get(id), id)
    if (found.isDeleted) throw new ControlError(409, 'The customer is deleted')
    return found
  }

  return {
    clock: () => ({ now: new Date(clock.nowMs()).toISOString() }),
    advance(by: Static<typeof AdvanceSchema>) {
      advanceToNow()
      const to = 'to' in by ? Date.parse(by.to) : clock.nowMs() + by.advanceMs
      if (!(to >= clock.nowMs())) throw new ControlError(400, 'The clock can only move forward')
      clock.putTo(to)
      advanceToNow()
      return { now: new Date(clock.nowMs()).toISOString() }
    },

    webhooks: (changes: Static<typeof WebhooksSchema>) => Object.assign(events.settings, changes),
    invoices: (changes: Static<typeof InvoicesSchema>) => Object.assign(billing.settings, changes),
    events(): Omit<EventRecord, 'isHeld'>[] {
      advanceToNow()
      return state.events.values().map(({ isHeld: _, ...event }) => event)
    },
    deliver: (ids: string[]) => webhooks.deliver(ids.map((id) => found404(state.events.get(id), id))),

    /** A declined card leaves the session open. */
    pay(id: string, card: Card = 'works') {
      const { status, customerId, subscriptionId } = checkouts.pay(openCheckout(id).id, card)
      return { status, customerId, subscriptionId }
    },
    expire: (id: string) => ({ status: checkouts.expire(openCheckout(id).id).status }),

    /** Adds another paid subscription, as if from another session. */
    subscribe({ userId, email, customerId }: Static<typeof SubscribeSchema>) {
      advanceToNow()
      if (customerId !== undefined) customer(customerId)
      const { id } = checkouts.create({
        expiresAt: null,
        customerId: customerId ?? null,
        customerEmail: customerId === undefined ? email : null,
        clientReferenceId: userId,
        metadata: { userId },
        subscriptionMetadata: { userId },
        quantity: 1,
        allowPromotionCodes: false,
        successUrl: 'http://localhost/',
        cancelUrl: null,
      })
      const paid = checkouts.pay(id, 'works')
      return { checkoutId: id, customerId: paid.customerId!, subscriptionId: paid.subscriptionId! }
    },
    cancel: (id: string) => void billing.setCancelAtPeriodEnd(liveSubscription(id).id, true),
    resume: (id: string) => void billing.setCancelAtPeriodEnd(liveSubscription(id).id, false),
    end: (id: string) => void billing.end(liveSubscription(id).id),
    /** Makes the API deny that the subscription ever existed, without an event. */
    forget(id: string): void {
      advanceToNow()
      state.subscriptions.set(id, { ...found404(state.subscriptions.get(id), id), isForgotten: true })
    },

    setCard: (id: string, card: Card) => void billing.setCard(customer(id).id, card),
    retryPayment: (id: string) =>
      billing.retryPayment(customer(id).id).map(({ id: invoiceId, status }) => ({ id: invoiceId, status })),
  }
}

export type ProcessorControls = ReturnType<typeof createControls>

export function controlRoutes(controls: ProcessorControls): Control[] {
  return [
    ['GET', /^\/clock$/, () => controls.clock()],
    ['POST', /^\/clock$/, async ({ body }) => controls.advance(checked(AdvanceSchema, await body()))],
    ['POST', /^\/webhooks$/, async ({ body }) => controls.webhooks(checked(WebhooksSchema, await body()))],
    ['POST', /^\/invoices$/, async ({ body }) => controls.invoices(checked(InvoicesSchema, await body()))],
    ['GET', /^\/events$/, () => controls.events()],
    ['POST', /^\/events\/deliver$/, async ({ body }) => controls.deliver(checked(DeliverSchema, await body()).ids)],
    [
      'POST',
      /^\/checkouts\/([^/]+)\/pay$/,
      async ({ id, body }) => controls.pay(id, checked(PaySchema, await body()).card),
    ],
    ['POST', /^\/checkouts\/([^/]+)\/expire$/, ({ id }) => controls.expire(id)],
    ['POST', /^\/subscriptions$/, async ({ body }) => controls.subscribe(checked(SubscribeSchema, await body()))],
    ['POST', /^\/subscriptions\/([^/]+)\/cancel$/, ({ id }) => controls.cancel(id)],
    ['POST', /^\/subscriptions\/([^/]+)\/resume$/, ({ id }) => controls.resume(id)],
    ['POST', /^\/subscriptions\/([^/]+)\/end$/, ({ id }) => controls.end(id)],
    ['POST', /^\/subscriptions\/([^/]+)\/forget$/, ({ id }) => controls.forget(id)],
    [
      'POST',
      /^\/customers\/([^/]+)\/card$/,
      async ({ id, body }) => controls.setCard(id, checked(CardChoiceSchema, await body()).card),
    ],
    ['POST', /^\/customers\/([^/]+)\/retry-payment$/, ({ id }) => controls.retryPayment(id)],
  ]
}

function found404<T>(found: T | undefined, id: string): T {
  if (found === undefined) throw new ControlError(404, `Not found: ${id}`)
  return found
}

function checked<T extends TSchema>(schema: T, body: unknown): Static<T> {
  const error = Value.Errors(schema, body).First()
  if (error) throw new ControlError(400, `${error.path || '/'}: ${error.message}`)
  return body
}
