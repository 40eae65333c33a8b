import { MINUTE } from '../shared/times.ts'
import { failure, type Failure } from './failure.ts'
import type { Post } from './post.ts'

/** The limits of `afterMinutes`. Every post fails after a day (`DELIVERY_MAX_LATENESS_MS`). */
export const LATE_RANGE = { minimum: 1, maximum: 1_440 } as const

/** Returns why a post that has published nothing is not sent any more; null while it still may be. */
export function findMissed({ dueAt, ifLate }: Pick<Post, 'dueAt' | 'ifLate'>, now: Date): Failure | null {
  if (!ifLate || dueAt === null || now.getTime() - dueAt.getTime() <= ifLate.afterMinutes * MINUTE) return null
  const late = `The post was more than ${ifLate.afterMinutes} ${ifLate.afterMinutes === 1 ? 'minute' : 'minutes'} late`
  return ifLate.action === 'skip'
    ? failure('SKIPPED', `${late} and was skipped, as you chose`)
    : failure('TOO_LATE', late)
}
