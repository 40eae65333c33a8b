import { anyOf } from '../shared/batching.ts'

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
