import { setTimeout as delay } from 'node:timers/promises'
import type { Clock } from '../../clock.ts'
import { ServiceError } from '../../domain/shared/service-error.ts'
import { SECOND } from '../../domain/shared/times.ts'
import type { Metrics, SocketEndReason, SocketTransport } from '../../telemetry/metrics.ts'

/** A client connection, implemented by each transport. */
export interface Connection {
  transport(): SocketTransport
  /** Bytes that the client has not read yet, in all buffers of this process. */
  bufferedBytes(): number
  /** Sends the reason and closes the connection by protocol. */
  end(ending: SocketEndReason): void
  /** Releases all resources immediately, without waiting for the client. */
  destroy(): void
  /** Pings the client when needed; false when it does not respond. */
  isAlive?(now: number): boolean
}

export interface OpenConnection {
  /** Marks the connection as authenticated or not. Unauthenticated connections are closed after a timeout. */
  setAuthenticated(isAuthenticated: boolean): void
  /** Counts a message of the client; false when the message exceeds the rate limit or the connection is ending. */
  countMessage(): boolean
  /** Ends the connection when its buffer is too large. Call it after sending. */
  checkBuffer(): void
  /** Records that the transport of the connection changed. */
  updateTransport(): void
  end(ending: SocketEndReason): void
  /** Removes a closed connection. */
  remove(): void
}

interface Entry {
  connection: Connection
  transport: SocketTransport
  /** Time in milliseconds since when the connection is unauthenticated; null while it is authenticated. */
  unauthenticatedSince: number | null
  second: number
  messages: number
  ending: NodeJS.Timeout | null
}

export interface ConnectionLimits {
  maxConnections: number
  maxUnauthenticated: number
}

/** Clients only send tokens, which have a few hundred bytes. */
export const MAX_MESSAGE_BYTES = 4 * 1024
/** Time for a client to authenticate. */
const AUTHENTICATION_TIMEOUT_MS = 10 * SECOND
const MAX_MESSAGES_PER_SECOND = 10
const MAX_BUFFERED_BYTES = 1024 * 1024
/** An unresponsive client is detected within 30 s: the ping interval plus the pong timeout. */
export const PING_INTERVAL_MS = 10 * SECOND
export const PONG_TIMEOUT_MS = 20 * SECOND
/** Time for a client to close its side after it got the reason. */
const CLOSE_TIMEOUT_MS = SECOND

/** Tracks all open connections of this process and enforces their limits. */
export function createConnections({ clock, metrics }: { clock: Clock; metrics: Metrics }, limits: ConnectionLimits) {
  const entries = new Set<Entry>()
  let onEmpty = (): void => {}
  const now = () => clock.now().getTime()

  const unauthenticated = new Set<Entry>()
  const isAtCapacity = () => entries.size >= limits.maxConnections || unauthenticated.size >= limits.maxUnauthenticated

  function end(entry: Entry, ending: SocketEndReason): void {
    if (entry.ending || !entries.has(entry)) return
    metrics.socketEnded(ending)
    const { connection } = entry
    entry.ending = setTimeout(() => connection.destroy(), CLOSE_TIMEOUT_MS).unref()
    // A slow client would not read the reason either.
    if (ending === 'slow') connection.destroy()
    else connection.end(ending)
  }

  function markAuthenticated(entry: Entry, isAuthenticated: boolean): void {
    entry.unauthenticatedSince = isAuthenticated ? null : now()
    if (isAuthenticated) unauthenticated.delete(entry)
    else unauthenticated.add(entry)
  }

  function enforceLimits(entry: Entry, at: number): void {
    const { connection, unauthenticatedSince } = entry
    if (unauthenticatedSince !== null && at - unauthenticatedSince > AUTHENTICATION_TIMEOUT_MS) end(entry, 'silent')
    else if (connection.bufferedBytes() > MAX_BUFFERED_BYTES) end(entry, 'slow')
    else if (connection.isAlive?.(at) === false) end(entry, 'slow')
  }

  return {
    now,

    /** @throws ServiceError 503 when the process cannot accept another connection */
    assertCapacity(): void {
      if (!isAtCapacity()) return
      throw new ServiceError('SERVICE_UNAVAILABLE', 'Too many open connections. Try again in 10 seconds.', {
        retryAfterSeconds: 10,
      })
    },

    open(connection: Connection): OpenConnection {
      const transport = connection.transport()
      const entry: Entry = { connection, transport, unauthenticatedSince: null, second: 0, messages: 0, ending: null }
      const hasCapacity = !isAtCapacity()
      entries.add(entry)
      markAuthenticated(entry, false)
      metrics.socketOpened(transport)
      // Concurrent requests may all have passed `assertCapacity`.
      if (!hasCapacity) end(entry, 'surplus')

      return {
        setAuthenticated(isAuthenticated) {
          if (entries.has(entry)) markAuthenticated(entry, isAuthenticated)
        },
        countMessage() {
          const second = Math.floor(performance.now() / SECOND)
          entry.messages = second === entry.second ? entry.messages + 1 : 1
          entry.second = second
          if (entry.messages > MAX_MESSAGES_PER_SECOND) end(entry, 'flooding')
          return entry.ending === null
        },
        checkBuffer: () => {
          if (connection.bufferedBytes() > MAX_BUFFERED_BYTES) end(entry, 'slow')
        },
        updateTransport() {
          metrics.socketClosed(entry.transport)
          entry.transport = connection.transport()
          metrics.socketOpened(entry.transport)
        },
        end: (ending) => end(entry, ending),
        remove() {
          if (!entries.delete(entry)) return
          unauthenticated.delete(entry)
          metrics.socketClosed(entry.transport)
          if (entries.size === 0) onEmpty()
          // Gives buffered data time to leave before the destroy.
          clearTimeout(entry.ending ?? undefined)
          setTimeout(() => connection.destroy(), CLOSE_TIMEOUT_MS).unref()
        },
      }
    },

    tick(): void {
      const at = now()
      for (const entry of entries) enforceLimits(entry, at)
    },

    /** Ends all connections and waits until they are closed, at most `withinMs`. */
    async endAll(ending: SocketEndReason, withinMs: number): Promise<void> {
      for (const entry of entries) end(entry, ending)
      if (entries.size === 0) return
      const allClosed = new Promise<void>((resolve) => void (onEmpty = resolve))
      await Promise.race([allClosed, delay(withinMs, undefined, { ref: false })])
    },
  }
}

export type Connections = ReturnType<typeof createConnections>
