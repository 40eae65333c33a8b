import type { FastifyReply } from 'fastify'
import { ServiceError } from '../../domain/shared/service-error.ts'

const RETRY_AFTER_SECONDS = 5

interface ConcurrencyOptions {
  perProcess: number
  /** Answers the user's own second request, as a sentence. */
  busyMessage: string
}

/** Lets each user run one expensive request at a time, and the process only so many in all. */
export function createConcurrencyLimit({ perProcess, busyMessage }: ConcurrencyOptions) {
  const running = new Set<string>()

  return {
    /**
     * Takes a place until the reply is closed.
     * @param key of the user, or of whatever stands for one
     * @throws ServiceError RATE_LIMITED while a request with this key runs, or while all places are taken
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
