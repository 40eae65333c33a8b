import { ApiError, ConnectionError } from './errors.ts'
import type { components } from './generated/schema.ts'
import { readServerSentEvents } from './server-sent-events.ts'
import { sleep } from './sleep.ts'
import type { Transport } from './transport.ts'

type Schemas = components['schemas']

/** An event of the feed. Webhooks deliver the same. */
export type Event = Schemas['Event']
export type EventType = Schemas['EventType']

export interface EventSelection {
  /** The last sequence that you have. */
  after?: number | undefined
  /** All types by default. */
  types?: EventType[] | undefined
  signal?: AbortSignal | undefined
}

const FIRST_WAIT_MS = 500
const LONGEST_WAIT_MS = 30_000
/** The service sends something every 15 seconds. */
const SILENCE_MS = 45_000

/** Reads a page of the feed. */
export async function listEvents(
  transport: Transport,
  { after, types, limit, signal }: EventSelection & { limit?: number | undefined },
): Promise<Schemas['EventList']> {
  const query = { after, types: types?.join(','), limit }
  const request = { method: 'GET', path: '/api/events', query, signal } as const
  return (await transport.sendForJson<{ data: Schemas['EventList'] }>(request)).data
}

/** Yields the stored events, oldest first, to the end of the feed. */
export async function* iterateEvents(transport: Transport, selection: EventSelection): AsyncGenerator<Event, void> {
  let { after } = selection
  for (;;) {
    const { events, nextAfter, hasMore } = await listEvents(transport, { ...selection, after })
    yield* events
    if (!hasMore) return
    after = nextAfter
  }
}

/**
 * Yields the events after `after`, or from now on without it, as they happen. It connects again after every interruption and continues
 * where it was, until the signal aborts or the caller ends the loop.
 * @throws ApiError when the service refuses: `EVENTS_EXPIRED` if the events after `after` are no longer stored, `RATE_LIMITED` with too many
 * open streams, `UNAUTHORIZED` when the key or session has ended
 */
export async function* followEvents(transport: Transport, selection: EventSelection): AsyncGenerator<Event, void> {
  const { types, signal } = selection
  // The number is needed before the first connection, which may end before it sent an event.
  let after = selection.after ?? (await listEvents(transport, { limit: 1, signal })).latest
  for (let failures = 0; ; failures++) {
    if (failures > 0) await sleep(Math.min(LONGEST_WAIT_MS, FIRST_WAIT_MS * 2 ** (failures - 1)), signal)
    try {
      for await (const { id, event, data } of openStream(transport, { after, types, signal })) {
        if (event === 'end') break
        if (data !== '') yield JSON.parse(data) as Event
        if (id !== '') after = Number(id)
        failures = 0
      }
    } catch (error) {
      signal?.throwIfAborted()
      if (!isInterruption(error)) throw error
    }
  }
}

/** Opens the stream once, and ends it when nothing arrives for a while. */
async function* openStream(transport: Transport, { after, types, signal }: EventSelection) {
  const silence = new AbortController()
  let timer = setTimeout(() => silence.abort(), SILENCE_MS)
  const restart = () => {
    clearTimeout(timer)
    timer = setTimeout(() => silence.abort(), SILENCE_MS)
  }
  try {
    const request = {
      method: 'GET',
      path: '/api/events/stream',
      query: { after, types: types?.join(',') },
      headers: { accept: 'text/event-stream' },
      signal: signal ? AbortSignal.any([signal, silence.signal]) : silence.signal,
    } as const
    const body = await transport.send(request, (response) => response.body)
    if (body !== null) yield* readServerSentEvents(body, restart)
  } catch (error) {
    if (error instanceof ApiError || error instanceof ConnectionError) throw error
    throw new ConnectionError('The stream of events was interrupted.', { cause: error })
  } finally {
    clearTimeout(timer)
  }
}

function isInterruption(error: unknown): boolean {
  return error instanceof ConnectionError || (error instanceof ApiError && error.status >= 500)
}
