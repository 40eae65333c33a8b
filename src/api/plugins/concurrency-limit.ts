import type { FastifyReply } from 'fastify'
import { createFairLimit } from '../../flow/fair-limit.ts'
import { ServiceError } from '../../domain/shared/service-error.ts'
import { MINUTE, SECOND } from '../../domain/shared/times.ts'

const RETRY_AFTER_SECONDS = 5
const MAX_WAITING = 100
/** A client that reads or sends more slowly would keep the slot from others. */
const LONGEST_HOLD_MS = 10 * MINUTE
/** Within the margin that the deadlines of these routes leave. */
const LONGEST_WAIT_MS = 3 * SECOND

interface ConcurrencyOptions {
  perProcess: number
  /** The error message for a second concurrent request with the same key. */
  busyMessage: string
  /** The longest wait for a slot, milliseconds. */
  waitMs?: number
  /** The longest time for a request and its response, after which the connection is closed, milliseconds. */
  holdMs?: number
}

/**
 * Limits expensive requests to a single one per user and `perProcess` in total. A request waits a few seconds for a slot, while its body is
 * not read. A second request of a user does not wait, so no user is in the queue twice.
 */
export function createConcurrencyLimit(options: ConcurrencyOptions) {
  const { perProcess, busyMessage, waitMs = LONGEST_WAIT_MS, holdMs = LONGEST_HOLD_MS } = options
  const takeTurn = createFairLimit({ maxRunning: perProcess, waiting: MAX_WAITING })
  /** The keys whose request runs or waits. */
  const entered = new Set<string>()

  return {
    /**
     * Takes a slot until the reply is closed.
     * @param key the user id or another key that identifies the client
     * @throws ServiceError RATE_LIMITED while a request with this key runs, or when no slot becomes free
     */
    async enter(reply: FastifyReply, key: string): Promise<void> {
      const retryAfterSeconds = RETRY_AFTER_SECONDS
      if (entered.has(key)) throw new ServiceError('RATE_LIMITED', busyMessage, { retryAfterSeconds })
      entered.add(key)
      const closed = new Promise<void>((resolve) => reply.raw.once('close', resolve))
      const granted = Promise.withResolvers<void>()
      const hold = async () => {
        granted.resolve()
        const slow = setTimeout(() => reply.raw.destroy(), holdMs)
        await closed
        clearTimeout(slow)
      }
      const signal = AbortSignal.any([reply.request.deadline, AbortSignal.timeout(waitMs)])
      void takeTurn(key, hold, { signal })
        .catch(granted.reject)
        .finally(() => entered.delete(key))
      try {
        await granted.promise
      } catch (cause) {
        reply.request.deadline.throwIfAborted()
        const message = 'Too many requests of this kind are in progress. Try again in a few seconds.'
        throw new ServiceError('RATE_LIMITED', message, { retryAfterSeconds, cause })
      }
    },
  }
}
