import { setTimeout as delay } from 'node:timers/promises'
import type { Clock } from '../../clock.ts'
import { ServiceError } from '../../domain/shared/service-error.ts'
import { SECOND } from '../../domain/shared/times.ts'
import type { Metrics, SocketEnding, SocketTransport } from '../../telemetry/metrics.ts'

/** A connection of a client, as a transport knows it. */
export interface Connection {
  transport(): SocketTransport
  /** Bytes that the client has not taken yet, in whatever buffer of this process they are. */
  bufferedBytes(): number
  /** Tells the client why, and closes as the protocol has it. */
  end(ending: SocketEnding): void
  /** Lets go of everything at once, whatever the client does. */
  destroy(): void
  /** Asks the client for a sign of life now and then; false when it gives none. */
  isAlive?(now: number): boolean
}

export interface OpenConnection {
  /** Someone listens on it, or no longer does. A connection on which nobody does may not stay long. */
  setAuthenticated(isKnown: boolean): void
  /** Counts a message of the client; false when it was one too many, and the connection ends. */
  countMessage(): boolean
  /** To be called after something was sent. */
  checkBuffer(): void
  /** The transport of the connection became another one. */
  updateTransport(): void
  end(ending: SocketEnding): void
  /** It is gone. */
  remove(): void
}

interface Entry {
  connection: Connection
  transport: SocketTransport
  /** Since when nobody listens on it; null while someone does. */
  unauthenticatedSince: number | null
  second: number
  messages: number
  ending: NodeJS.Timeout | null
}

export interface ConnectionLimits {
  maxConnections: number
  maxUnauthenticated: number
}

/** A token is a few hundred bytes, and nothing else is ever sent to us. */
export const MAX_MESSAGE_BYTES = 4 * 1024
/** How long a client may take to say who it is. */
const AUTHENTICATION_TIMEOUT_MS = 10 * SECOND
const MAX_MESSAGES_PER_SECOND = 10
const MAX_BUFFERED_BYTES = 1024 * 1024
/** A client that does not read is not there: it is asked this often, and has this long to answer. Together 30 s. */
export const PING_INTERVAL_MS = 10 * SECOND
export const PONG_TIMEOUT_MS = 20 * SECOND
/** How long a client may take to close its side once it was told. */
const CLOSE_TIMEOUT_MS = SECOND

/** Every open connection of this process, and the limits that hold for them all. */
export function createConnections(
  { clock, metrics }: { clock: Clock; metrics: Pick<Metrics, 'socketOpened' | 'socketClosed' | 'socketEnded'> },
  limits: ConnectionLimits,
) {
  const entries = new Set<Entry>()
  let onEmpty = (): void => {}
  const now = () => clock.now().getTime()

  const unauthenticated = new Set<Entry>()
  const isAtCapacity = () => entries.size >= limits.maxConnections || unauthenticated.size >= limits.maxUnauthenticated

  function end(entry: Entry, ending: SocketEnding): void {
    if (entry.ending || !entries.has(entry)) return
    metrics.socketEnded(ending)
    const { connection } = entry
    entry.ending = setTimeout(() => connection.destroy(), CLOSE_TIMEOUT_MS).unref()
    // Words would only be more that is not read.
    if (ending === 'slow') connection.destroy()
    else connection.end(ending)
  }

  function setKnown(entry: Entry, isKnown: boolean): void {
    entry.unauthenticatedSince = isKnown ? null : now()
    if (isKnown) unauthenticated.delete(entry)
    else unauthenticated.add(entry)
  }

  function enforceLimits(entry: Entry, at: number): void {
    const { connection, unauthenticatedSince: strangerSince } = entry
    if (strangerSince !== null && at - strangerSince > AUTHENTICATION_TIMEOUT_MS) end(entry, 'silent')
    else if (connection.bufferedBytes() > MAX_BUFFERED_BYTES) end(entry, 'slow')
    else if (connection.isAlive?.(at) === false) end(entry, 'slow')
  }

  return {
    now,

    /** @throws ServiceError 503 when there is no room for another connection */
    assertCapacity(): void {
      if (!isAtCapacity()) return
      throw new ServiceError('SERVICE_UNAVAILABLE', 'Too many open connections. Try again in 10 seconds.', {
        retryAfterSeconds: 10,
      })
    },

    open(connection: Connection): OpenConnection {
      const transport = connection.transport()
      const entry: Entry = { connection, transport, unauthenticatedSince: null, second: 0, messages: 0, ending: null }
      const hasRoom = !isAtCapacity()
      entries.add(entry)
      setKnown(entry, false)
      metrics.socketOpened(transport)
      // Of those that came at the same moment more may have been let in.
      if (!hasRoom) end(entry, 'crowded')

      return {
        setAuthenticated(isKnown) {
          if (entries.has(entry)) setKnown(entry, isKnown)
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
          // What is still in buffers on its way out goes with it.
          clearTimeout(entry.ending ?? undefined)
          setTimeout(() => connection.destroy(), CLOSE_TIMEOUT_MS).unref()
        },
      }
    },

    tick(): void {
      const at = now()
      for (const entry of entries) enforceLimits(entry, at)
    },

    /** Tells all of them, and gives them so long to go. */
    async endAll(ending: SocketEnding, withinMs: number): Promise<void> {
      for (const entry of entries) end(entry, ending)
      if (entries.size === 0) return
      const allClosed = new Promise<void>((resolve) => void (onEmpty = resolve))
      await Promise.race([allClosed, delay(withinMs, undefined, { ref: false })])
    },
  }
}

export type Connections = ReturnType<typeof createConnections>
