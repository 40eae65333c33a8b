import { SECOND } from '../../domain/shared/times.ts'
import { anyOf } from '../shared/batching.ts'

/** For reads that many posts could make slow. */
export const LIST_DEADLINE_MS = 5 * SECOND

export interface PostKey {
  id: string
  userId: string | undefined
}

/** Selects posts by id, and by their owners if all are known. */
export function matchAny(keys: readonly PostKey[]) {
  const owners = keys.flatMap(({ userId }) => userId ?? [])
  return {
    _id: anyOf(keys.map(({ id }) => id)),
    ...(owners.length === keys.length && { userId: anyOf(owners) }),
  }
}
