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

/** Measures all keys in every round and reverses their order each time, so that none always runs right after another. */
export async function inTurns<Key extends string>(
  keys: readonly Key[],
  rounds: number,
  measure: (key: Key, round: number) => Promise<void>,
): Promise<void> {
  for (let round = 0; round < rounds; round++) {
    for (const key of round % 2 === 0 ? keys : keys.toReversed()) await measure(key, round)
  }
}
