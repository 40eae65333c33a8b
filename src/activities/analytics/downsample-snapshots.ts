import { cancellationSignal, heartbeat } from '@temporalio/activity'
import { findEndOfDay } from '../../domain/analytics/calendar.ts'
import { findDownsampledUntil, selectSuperseded, toPairKey } from '../../domain/analytics/snapshots.ts'
import type { User } from '../../domain/users/user.ts'
import type { SnapshotCounts } from '../../store/analytics/snapshots.ts'
import type { DownsampledPage, DownsampleCursor } from '../../workflows/contract/analytics.ts'
import type { Context } from '../../context.ts'

/** Users per page. */
const PAGE = 100

/** Reduces snapshots that no read needs any more to the last ones of each day (ADR "Due metrics are claimed under a lease, in a lane per server"). */
export function createDownsampleActivities({ snapshots, users, clock }: Context) {
  async function downsampleUser(user: Pick<User, '_id' | 'timezone'>, cursor: DownsampleCursor): Promise<number> {
    const { _id: userId, timezone } = user
    const { from, until } = cursor
    let removed = 0
    let day: SnapshotCounts[] = []
    // Computed once per day: a user may have thousands of snapshots on it.
    let endOfDay = new Date(0)
    const finishDay = async () => {
      const pairs = [...Map.groupBy(day, toPairKey).values()]
      const ids = pairs.flatMap((ofPair) => selectSuperseded(ofPair).map(({ _id }) => _id))
      if (ids.length > 0) removed += await snapshots.remove(userId, ids)
      day = []
    }
    const range = [from === null ? null : new Date(from), new Date(until)] as const
    for await (const snapshot of snapshots.listBetween(userId, ...range)) {
      if (snapshot.takenAt >= endOfDay) {
        await finishDay()
        endOfDay = findEndOfDay(snapshot.takenAt, timezone)
      }
      day.push(snapshot)
    }
    await finishDay()
    return removed
  }

  return {
    /** @returns null when no week has become old since the last complete run */
    async beginDownsampling(): Promise<DownsampleCursor | null> {
      const from = (await snapshots.findDownsampledUntil())?.getTime() ?? null
      const until = findDownsampledUntil(clock.now()).getTime()
      return from !== null && from >= until ? null : { from, until, afterUserId: null }
    },

    finishDownsampling: ({ until }: DownsampleCursor): Promise<void> => snapshots.saveDownsampledUntil(new Date(until)),

    /** Downsamples the snapshots of the next users. It may be repeated. */
    async downsampleSnapshotsPage(cursor: DownsampleCursor): Promise<DownsampledPage> {
      const signal = cancellationSignal()
      const page = await users.listTimezones({ after: cursor.afterUserId, limit: PAGE })
      let removed = 0
      for (const user of page) {
        signal.throwIfAborted()
        removed += await downsampleUser(user, cursor)
        heartbeat(removed)
      }
      return { removed, next: page.length < PAGE ? null : { ...cursor, afterUserId: page.at(-1)!._id } }
    },
  }
}
