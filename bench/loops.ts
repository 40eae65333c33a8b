/**
 * Runs the work again and again, so many at a time; returns when all are done. A lane does one piece after the other. After a
 * failure no new job starts, and the failure is thrown once the other lanes have ended.
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

/** The first round begins with one side and the next with the other, so that neither always finds the machine as the other left it. */
export async function inTurns<Key extends string>(
  keys: readonly Key[],
  rounds: number,
  measure: (key: Key, round: number) => Promise<void>,
): Promise<void> {
  for (let round = 0; round < rounds; round++) {
    for (const key of round % 2 === 0 ? keys : keys.toReversed()) await measure(key, round)
  }
}
