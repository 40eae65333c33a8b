/** How many slots are taken, by the user who asks and by all of them. */
export interface SlotUse {
  taken: number
  /** Users with at least one slot. */
  users: number
  takenByUser: number
}

/**
 * Returns whether a user may take one more of `shared` slots. The slots are first come, first served. Once all are taken, a user with
 * less than an equal share may still take one from the reserve beyond them, and a user with a larger share waits until one is free.
 */
export function mayTakeSlot(shared: number, { taken, users, takenByUser }: SlotUse): boolean {
  return taken < shared || takenByUser * Math.max(1, users) < shared
}

/** Counts the slots that users have taken. Every operation takes constant time. */
export function createSlotCounter() {
  const byUser = new Map<string, number>()
  let taken = 0

  return {
    count: (userId: string): SlotUse => ({ taken, users: byUser.size, takenByUser: byUser.get(userId) ?? 0 }),

    /** Takes a slot. Returns a function that frees it. */
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
