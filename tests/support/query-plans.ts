import type { Connection } from 'mongoose'
import type { Aggregation } from '../../src/store/analytics/analytics-pipelines.ts'

export type PlanFact = [name: string, value: unknown]

/** What a plan says of how its records are reached, wherever in it. */
export async function explain(connection: Connection, { collection, stages }: Aggregation): Promise<PlanFact[]> {
  return [...factsOf(await connection.collection(collection).aggregate(stages).explain('executionStats'))]
}

function* factsOf(plan: unknown): Generator<PlanFact> {
  if (typeof plan !== 'object' || plan === null) return
  for (const [key, value] of Object.entries(plan)) {
    if (typeof value === 'object') yield* factsOf(value)
    else yield [key, value]
  }
}

export const isScan = ([name, value]: PlanFact): boolean =>
  (name === 'stage' && value === 'COLLSCAN') || (name === 'collectionScans' && Number(value) > 0)
