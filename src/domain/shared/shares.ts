/** How many places are taken, by the user who asks and by all of them. */
export interface Places {
  taken: number
  /** Users with at least one place. */
  users: number
  takenByUser: number
}

/**
 * Returns whether a user may take one more of `shared` places. The places are first come, first served. Once all are taken, a user with
 * less than an equal share may still take one from the reserve beyond them, and a user with a larger share waits until one is free.
 */
export function mayTakePlace(shared: number, { taken, users, takenByUser }: Places): boolean {
  return taken < shared || takenByUser * Math.max(1, users) < shared
}

/** Counts the places that users have taken. Every operation takes constant time. */
export function createPlaces() {
  const byUser = new Map<string, number>()
  let taken = 0

  return {
    count: (userId: string): Places => ({ taken, users: byUser.size, takenByUser: byUser.get(userId) ?? 0 }),

    /** Takes a place. Returns a function that frees it. */
    take(userId: string): () => void {
      taken += 1
      byUser.set(userId, (byUser.get(userId) ?? 0) + 1)
      return () => {
        taken -= 1
        const left = byUser.get(userId)! - 1
        if (left > 0) byUser.set(userId, left)
        else byUser.delete(userId)
      }
    },
  }
}
