import { Readable } from 'node:stream'
import { setTimeout as delay } from 'node:timers/promises'
import type { Context } from '../../context.ts'
import { presentEvent, type EventType, type UserEvent } from '../../domain/events/events.ts'
import { ServiceError } from '../../domain/shared/service-error.ts'
import { SECOND } from '../../domain/shared/times.ts'
import type { RequestUser } from '../shared/identity.ts'
import { createMultiMap } from '../shared/multi-map.ts'
import { presentAll } from '../shared/odd-records.ts'
import type { ChangeHold, SharedChanges } from '../shared/shared-changes.ts'
import type { RecordChange } from '../../store/shared/change-stream.ts'
import { readRange } from './read-feed.ts'

interface StreamRequest {
  user: Pick<RequestUser, 'userId' | 'sessionId' | 'apiKey'>
  /** The last sequence that the client has; undefined to begin with the next event. */
  after: number | undefined
  types: EventType[] | undefined
  /** Checks the credentials again. @throws ServiceError when they ended */
  reauthenticate(): Promise<unknown>
}

/** Clients and proxies close connections that are silent for about a minute. */
const HEARTBEAT_MS = 15 * SECOND
/** A token that expires changes no record, so each stream checks its credentials this often. */
const RECHECK_MS = 30 * SECOND
/** A client that accepts nothing for this long is disconnected. It continues where it stopped when it connects again. */
const STALL_MS = 60 * SECOND
const TICK_MS = 5 * SECOND
const CLIENT_GONE = new ServiceError('SERVICE_UNAVAILABLE', 'The client has disconnected')
/** Changes of this time are one read, so that a burst of events does not make every stream of its user read for each of them. */
const COLLECT_MS = 50
/** Events per read. It bounds the memory of a stream, because the next page is read when the client has taken this one. */
const PAGE = 100

/**
 * Follows the feeds of users. A change in the database only wakes a stream, which then reads the feed after the last event that it sent. So
 * no event is missed or repeated between the stored and the live ones, whichever process stored them.
 */
export function createEventStreams(
  { events, logger }: Context,
  changes: SharedChanges,
  limits: { perProcess: number; perUser: number },
) {
  const open = createMultiMap<OpenStream>()
  /** Null without open streams. */
  let hold: ChangeHold | null = null
  let ticking: NodeJS.Timeout | undefined

  function onChange(change: RecordChange): void {
    if (change.kind === 'event') for (const stream of open.get(change.userId)) stream.wake()
    else if (change.kind === 'user') for (const stream of open.get(change.userId)) void recheck(stream)
    else if (change.kind === 'session') {
      for (const stream of open.all()) if (stream.user.sessionId === change.sessionId) void recheck(stream)
    } else if (change.kind === 'apiKey') {
      for (const stream of open.all()) if (stream.user.apiKey?._id === change.keyHash) void recheck(stream)
    }
  }

  async function recheck(stream: OpenStream): Promise<void> {
    stream.checkedAt = performance.now()
    try {
      await stream.reauthenticate()
    } catch (error) {
      // During an outage the next check decides.
      if (error instanceof ServiceError && error.statusCode < 500) stream.end(error)
    }
  }

  function tick(): void {
    const now = performance.now()
    for (const stream of open.all()) {
      if (stream.offeredAt !== null && now - stream.offeredAt > STALL_MS) stream.destroy()
      else if (now - stream.checkedAt > RECHECK_MS) void recheck(stream)
      else if (now - stream.sentAt > HEARTBEAT_MS) stream.wake()
    }
  }

  function join(stream: OpenStream): void {
    hold ??= changes.hold({ onChange, onGap: () => open.all().forEach((one) => one.wake()) })
    ticking ??= setInterval(tick, TICK_MS).unref()
    open.add(stream.user.userId, stream)
  }

  function leave(stream: OpenStream): void {
    open.remove(stream.user.userId, stream)
    if (open.size > 0) return
    hold?.release()
    hold = null
    clearInterval(ticking)
    ticking = undefined
  }

  function assertCapacity(userId: string): void {
    if (open.get(userId).size >= limits.perUser) {
      throw new ServiceError('RATE_LIMITED', 'Too many open event streams. Close another one and try again.')
    }
    if (open.all().length >= limits.perProcess) {
      throw new ServiceError('SERVICE_UNAVAILABLE', 'Too many open connections. Try again in 10 seconds.', {
        retryAfterSeconds: 10,
      })
    }
  }

  return {
    /**
     * Opens a stream in the format of Server-Sent Events. Callers destroy it when the client disconnects.
     * @throws ServiceError EVENTS_EXPIRED, RATE_LIMITED for a user with too many streams, SERVICE_UNAVAILABLE
     */
    async open(request: StreamRequest): Promise<{ readable: Readable; destroy(): void }> {
      const { userId } = request.user
      assertCapacity(userId)
      const stream = createStream(request)
      // Joins before it reads, so that later changes wake the stream.
      join(stream)
      try {
        await hold!.opened()
        const { oldest, latest } = await readRange(events, userId, request.after ?? 0)
        stream.begin(request.after === undefined ? latest : Math.max(request.after, oldest - 1))
      } catch (error) {
        leave(stream)
        throw error
      }
      return stream
    },

    /** Ends all streams, because the process stops. Their clients connect to another one. */
    endAll(): void {
      const ending = new ServiceError('SERVICE_UNAVAILABLE', 'The service is restarting. Connect again.')
      for (const stream of open.all()) stream.end(ending)
    },
  }

  function createStream({ user, types, reauthenticate }: StreamRequest) {
    let after = 0
    /** The last sequence that the client knows. */
    let announced = 0
    let ending: ServiceError | null = null
    let woken = Promise.withResolvers<void>()

    const stream = {
      user,
      reauthenticate,
      checkedAt: performance.now(),
      /** When the client was last sent something, and since when it has not taken what it is offered; null when it has. */
      sentAt: performance.now(),
      offeredAt: null as number | null,
      wake: () => woken.resolve(),
      begin(from: number) {
        after = from
        announced = from
      },
      end(error: ServiceError) {
        ending ??= error
        woken.resolve()
      },
      /** Releases the stream, whose client has gone. */
      destroy() {
        leave(stream)
        // Else the generator would wait for the next event before the readable can close.
        stream.end(CLIENT_GONE)
        readable.destroy()
      },
      get readable() {
        return readable
      },
    }

    async function* write(): AsyncGenerator<string> {
      // Clients learn that the stream is open.
      yield ': open\n\n'
      while (!ending) {
        woken = Promise.withResolvers()
        const { events: found, examinedTo, latest } = await events.page(user.userId, { after, types, limit: PAGE })
        if (found.length > 0) {
          yield presentAll(found, formatEvent, logger).join('')
          announced = found.at(-1)!.sequence
        }
        after = examinedTo
        if (examinedTo < latest) continue
        // Events of other types move the client on as well, so that it does not fall behind the retention.
        if (performance.now() - stream.sentAt > HEARTBEAT_MS) {
          yield after > announced ? `id: ${after}\n\n` : ': alive\n\n'
          announced = after
        }
        await woken.promise
        await delay(COLLECT_MS)
      }
      yield formatEnd(ending)
    }

    async function* observe(): AsyncGenerator<string> {
      for await (const text of write()) {
        stream.offeredAt = performance.now()
        yield text
        stream.offeredAt = null
        stream.sentAt = performance.now()
      }
    }

    const readable = Readable.from(observe(), { objectMode: false, encoding: 'utf8' })
    readable.once('close', () => leave(stream))
    readable.on('error', (err) => logger.warn({ err, userId: user.userId }, 'event stream failed'))
    return stream
  }

  type OpenStream = ReturnType<typeof createStream>
}

function formatEvent(event: UserEvent): string {
  const { sequence, type } = event
  return `id: ${sequence}\nevent: ${type}\ndata: ${JSON.stringify(presentEvent(event))}\n\n`
}

/** The last message of a stream that the service ends. */
function formatEnd({ code, message }: ServiceError): string {
  return `event: end\ndata: ${JSON.stringify({ code, message })}\n\n`
}
