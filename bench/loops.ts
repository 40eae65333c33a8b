/**
 * Runs `count` jobs, `inFlight` at a time. A lane runs its jobs in sequence. After a failure no new job starts, and the failure is
 * thrown once the other lanes have ended.
 */
export async function closedLoop(
  count: number,
  inFlight: number,
  work: (index: number, lane: number) => Promise<void>,
): Promise<void> {
  let next = 0
  const run = async (lane: number) => {
    try {
      while (next < count) await work(next++, lane)
    } catch (error) {
      next = count
      throw error
    }
  }
  const lanes = await Promise.allSettled(Array.from({ length: inFlight }, (_, lane) => run(lane)))
  for (const lane of lanes) if (lane.status === 'rejected') throw lane.reason
}
