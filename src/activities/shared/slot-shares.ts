import { createSlotCounter, mayTakeSlot } from '../../flow/shares.ts'
import { SECOND } from '../../domain/shared/times.ts'
import { retryAfter } from './retry-after.ts'

/** The share of the activity slots that a single user can fill. The rest is for other users. */
const SHARED = 3 / 4
const FIRST_RETRY_MS = 2 * SECOND
const LONGEST_RETRY_MS = 30 * SECOND

/**
 * Shares the activity slots of a task queue among users. Temporal's fairness decides who gets a free slot, but does not free one while
 * the slow activities of one user fill them all.
 */
export function createSlotShares(slots: number) {
  const counter = createSlotCounter()
  const shared = Math.ceil(slots * SHARED)

  return {
    /**
     * Runs `work` while the user has a slot.
     * @param attempt counts from 1; later ones wait longer
     * @throws `retryAfter` before `work` started, when the user has an equal share of the slots
     */
    async run<T>(userId: string, attempt: number, work: () => Promise<T>): Promise<T> {
      if (!mayTakeSlot(shared, counter.count(userId))) {
        const waitMs = Math.min(LONGEST_RETRY_MS, FIRST_RETRY_MS * 2 ** Math.min(attempt - 1, 10))
        throw retryAfter('The user has an equal share of the activity slots', waitMs * (0.5 + Math.random() / 2))
      }
      const free = counter.take(userId)
      try {
        return await work()
      } finally {
        free()
      }
    },
  }
}
