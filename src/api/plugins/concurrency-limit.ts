import type { FastifyReply } from 'fastify'
import { ServiceError } from '../../domain/shared/service-error.ts'

const RETRY_AFTER_SECONDS = 5

interface ConcurrencyOptions {
  perProcess: number
  /** The error message for a second concurrent request with the same key. */
  busyMessage: string
}

/** Limits expensive requests to a single one per user and `perProcess` in total. */
export function createConcurrencyLimit({ perProcess, busyMessage }: ConcurrencyOptions) {
  const running = new Set<string>()

  return {
    /**
     * Takes a slot until the reply is closed.
     * @param key the user id or another key that identifies the client
     * @throws ServiceError RATE_LIMITED while a request with this key runs, or while no slot is free
     */
    enter(reply: FastifyReply, key: string): void {
      const retryAfterSeconds = RETRY_AFTER_SECONDS
      if (running.has(key)) throw new ServiceError('RATE_LIMITED', busyMessage, { retryAfterSeconds })
      if (running.size >= perProcess) {
        const message = 'Too many requests of this kind are in progress. Try again in a few seconds.'
        throw new ServiceError('RATE_LIMITED', message, { retryAfterSeconds })
      }
      running.add(key)
      reply.raw.once('close', () => running.delete(key))
    },
  }
}
