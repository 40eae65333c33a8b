import { createHmac } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import type { EventRecord } from './records.ts'
import type { State } from './state.ts'

interface WebhooksDeps {
  state: Pick<State, 'events' | 'account'>
  /** The waits before further attempts; after the last one it gives up. */
  retryDelaysMs: number[]
  timeoutMs: number
}

/** Delivers events to the service and retries until each is acknowledged. */
export function createWebhooks({ state: { events, account }, retryDelaysMs, timeoutMs }: WebhooksDeps) {
  const stopping = new AbortController()
  const running = new Set<Promise<void>>()
  let endpoints: string[] = []
  let turn = 0

  /** @returns the status of the endpoint's response; `null` without one */
  async function attempt(id: string, body: object): Promise<number | null> {
    const at = new Date()
    const status = await post(endpoints[turn++ % endpoints.length], body, at)
    const event = events.get(id)!
    events.set(id, { ...event, deliveries: [...event.deliveries, { at: at.toISOString(), status }] })
    return status
  }

  async function post(endpoint: string | undefined, body: object, at: Date): Promise<number | null> {
    if (endpoint === undefined) return null
    const payload = JSON.stringify(body, null, 2)
    try {
      const response = await fetch(endpoint, {
        method: 'POST',
        headers: {
          'content-type': 'application/json; charset=utf-8',
          'user-agent': 'Stripe/1.0 (+https://stripe.com/docs/webhooks)',
          'stripe-signature': signature(payload, account.webhookSecret, at),
        },
        body: payload,
        redirect: 'manual',
        signal: AbortSignal.any([stopping.signal, AbortSignal.timeout(timeoutMs)]),
      })
      await response.arrayBuffer()
      return response.status
    } catch {
      return null
    }
  }

  async function deliverWithRetries(event: EventRecord): Promise<void> {
    const { id, body, deliveries } = event
    for (let tries = deliveries.length; tries <= retryDelaysMs.length; tries++) {
      if (tries > 0) await delay(retryDelaysMs[tries - 1], undefined, { signal: stopping.signal, ref: false })
      // It may have been delivered on demand meanwhile.
      if (stopping.signal.aborted || isAcknowledged(events.get(id)!)) return
      await attempt(id, body)
    }
  }

  function send(event: EventRecord): void {
    const delivering = deliverWithRetries(event).catch(() => undefined)
    running.add(delivering)
    void delivering.then(() => running.delete(delivering))
  }

  return {
    send,
    isListenedTo: () => endpoints.length > 0,
    /** Sets the webhook URLs, which are used in turn. The first call also sends events that an earlier run did not deliver. */
    setEndpoints(urls: string[]): void {
      const isFirst = endpoints.length === 0
      endpoints = urls
      if (!isFirst) return
      for (const event of events.values()) if (!event.isHeld && !isAcknowledged(event)) send(event)
    },
    /** Delivers the events in sequence, in this order. */
    async deliver(found: EventRecord[]): Promise<{ id: string; status: number | null }[]> {
      const answers: { id: string; status: number | null }[] = []
      for (const { id, body } of found) answers.push({ id, status: await attempt(id, body) })
      return answers
    },
    async stop(): Promise<void> {
      stopping.abort()
      await Promise.all(running)
    },
  }
}

function isAcknowledged({ deliveries }: EventRecord): boolean {
  return deliveries.some(({ status }) => status !== null && status >= 200 && status < 300)
}

function signature(payload: string, secret: string, at: Date): string {
  const timestamp = Math.floor(at.getTime() / 1_000)
  return `t=${timestamp},v1=${createHmac('sha256', secret).update(`${timestamp}.${payload}`).digest('hex')}`
}
