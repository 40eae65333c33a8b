import { isDeepStrictEqual } from 'node:util'
import type { Clock } from './clock.ts'
import type { EventRecord } from './records.ts'
import { API_VERSIONS, type ApiShape } from './shapes.ts'
import { newId, type State } from './state.ts'

export type EventType =
  | 'checkout.session.completed'
  | 'checkout.session.expired'
  | 'customer.subscription.created'
  | 'customer.subscription.updated'
  | 'customer.subscription.deleted'
  | 'customer.deleted'
  | 'invoice.paid'
  | 'invoice.payment_succeeded'
  | 'invoice.payment_failed'

interface EventsDeps {
  state: State
  clock: Clock
  /** Returns whether there is a webhook endpoint. */
  isListenedTo(): boolean
  send(event: EventRecord): void
}

/** Creates events: each shows the object at that moment, in the API version of the webhooks. */
export function createEvents({ state: { events }, clock, isListenedTo, send }: EventsDeps) {
  const settings: { held: boolean; apiShape: ApiShape } = { held: false, apiShape: 'new' }

  return {
    settings,
    emit(type: EventType, object: object, before?: object): void {
      const id = newId('evt')
      const created = clock.now()
      const event = events.set(id, {
        id,
        type,
        created,
        body: {
          id,
          object: 'event',
          api_version: API_VERSIONS[settings.apiShape],
          created,
          data: { object, ...(before && { previous_attributes: changedFrom(before, object) }) },
          livemode: false,
          pending_webhooks: 1,
          request: { id: null, idempotency_key: null },
          type,
        },
        deliveries: [],
        isHeld: settings.held || !isListenedTo(),
      })
      if (!event.isHeld) send(event)
    },
  }
}

export type Events = ReturnType<typeof createEvents>

function changedFrom(before: object, after: object): object {
  const now = after as Record<string, unknown>
  return Object.fromEntries(Object.entries(before).filter(([key, value]) => !isDeepStrictEqual(value, now[key])))
}
