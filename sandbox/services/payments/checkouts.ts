import type { Billing } from './billing.ts'
import type { Clock } from './clock.ts'
import type { Events } from './events.ts'
import type { Card, CheckoutRecord, Seconds } from './records.ts'
import type { Shapes } from './shapes.ts'
import { newId, type State } from './state.ts'

interface CheckoutsDeps {
  state: State
  shapes: Shapes
  clock: Clock
  events: Events
  billing: Billing
}

export type NewCheckout = Omit<
  CheckoutRecord,
  'id' | 'status' | 'createdAt' | 'expiresAt' | 'makesCustomer' | 'subscriptionId' | 'invoiceId'
> & { expiresAt: Seconds | null }

const LIFE = 86_400

/** Creates checkout sessions. Each sells one subscription and expires after a day. */
export function createCheckouts({ state: { checkouts }, shapes, clock, events, billing }: CheckoutsDeps) {
  function expire(id: string): CheckoutRecord {
    const expired = checkouts.set(id, { ...checkouts.get(id)!, status: 'expired' })
    events.emit('checkout.session.expired', shapes.checkout(expired))
    return expired
  }

  return {
    create(wanted: NewCheckout): CheckoutRecord {
      const id = newId('cs_test')
      const createdAt = clock.now()
      return checkouts.set(id, {
        ...wanted,
        id,
        status: 'open',
        createdAt,
        expiresAt: wanted.expiresAt ?? createdAt + LIFE,
        makesCustomer: wanted.customerId === null,
        subscriptionId: null,
        invoiceId: null,
      })
    },

    /** A declined card leaves the session open: the customer may try another. */
    pay(id: string, card: Card): CheckoutRecord {
      const open = checkouts.get(id)!
      if (card === 'fails') return open
      const customerId = open.customerId ?? billing.createCustomer(open.customerEmail, card).id
      billing.setCard(customerId, card)
      const subscription = billing.start(customerId, open.subscriptionMetadata)
      const complete = checkouts.set(id, {
        ...open,
        status: 'complete',
        customerId,
        subscriptionId: subscription.id,
        invoiceId: subscription.latestInvoiceId,
      })
      events.emit('checkout.session.completed', shapes.checkout(complete))
      return complete
    },

    expire,

    /** Returns the expiries that are due until then, unordered. */
    due: (until: Seconds) =>
      checkouts
        .values()
        .filter(({ status, expiresAt }) => status === 'open' && expiresAt <= until)
        .map(({ id, expiresAt }) => ({ at: expiresAt, run: () => void expire(id) })),
  }
}
