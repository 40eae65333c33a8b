import type { Table } from '../../platforms/shared/tables.ts'
import type { Seconds } from './records.ts'

/** The processor's own clock: it runs with the real one and can be moved forward. */
export function createClock(offsets: Table<number>) {
  let pinned: Seconds | null = null

  const nowMs = () => Date.now() + (offsets.get('aheadMs') ?? 0)

  return {
    nowMs,
    now: (): Seconds => pinned ?? Math.floor(nowMs() / 1_000),
    /** Runs an action as if at an instant that has already passed. */
    at(instant: Seconds, action: () => void): void {
      pinned = instant
      try {
        action()
      } finally {
        pinned = null
      }
    },
    putTo(instantMs: number): void {
      offsets.set('aheadMs', instantMs - Date.now())
    },
  }
}

export type Clock = ReturnType<typeof createClock>
