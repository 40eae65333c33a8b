import { cancellationSignal, heartbeat } from '@temporalio/activity'
import { findDownsampledUntil, selectSuperseded, toPairKey, toWeek } from '../../domain/analytics/snapshots.ts'
import type { SnapshotCounts } from '../../store/analytics/snapshots.ts'
import type { DownsampledPage, DownsampleCursor } from '../../workflows/contract/analytics.ts'
import type { Context } from '../../context.ts'

/** Users per page. */
const PAGE = 100

/** Reduces snapshots that no read needs any more to the last ones of each week (ADR "Due metrics are claimed under a lease, in a lane per server"). */
export function createDownsampleActivities({ snapshots, users, clock }: Context) {
  async function downsampleUser(userId: string, { from, until }: DownsampleCursor): Promise<number> {
    let removed = 0
    let week: SnapshotCounts[] = []
    const finishWeek = async () => {
      const pairs = [...Map.groupBy(week, toPairKey).values()]
      const ids = pairs.flatMap((ofPair) => selectSuperseded(ofPair).map(({ _id }) => _id))
      if (ids.length > 0) removed += await snapshots.remove(userId, ids)
      week = []
    }
    const range = [from === null ? null : new Date(from), new Date(until)] as const
    for await (const snapshot of snapshots.listBetween(userId, ...range)) {
      if (week[0] && toWeek(week[0]).getTime() !== toWeek(snapshot).getTime()) await finishWeek()
      week.push(snapshot)
    }
    await finishWeek()
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
      const userIds = await users.listIds({ after: cursor.afterUserId, limit: PAGE })
      let removed = 0
      for (const userId of userIds) {
        signal.throwIfAborted()
        removed += await downsampleUser(userId, cursor)
        heartbeat(removed)
      }
      return { removed, next: userIds.length < PAGE ? null : { ...cursor, afterUserId: userIds.at(-1)! } }
    },
  }
}
