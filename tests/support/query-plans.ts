import type { Connection } from 'mongoose'
import type { Aggregation } from '../../src/store/analytics/analytics-pipelines.ts'

/** A name and a value from any level of a query plan. */
export type PlanFact = [name: string, value: unknown]

/** Explains an aggregation and returns all names and values of its plan. */
export async function explain(connection: Connection, { collection, stages }: Aggregation): Promise<PlanFact[]> {
  return [...listFacts(await connection.collection(collection).aggregate(stages).explain('executionStats'))]
}

function* listFacts(plan: unknown): Generator<PlanFact> {
  if (typeof plan !== 'object' || plan === null) return
  for (const [key, value] of Object.entries(plan)) {
    if (typeof value === 'object') yield* listFacts(value)
    else yield [key, value]
  }
}

/** Returns whether the fact reports a scan of a whole collection. */
export const isScan = ([name, value]: PlanFact): boolean =>
  (name === 'stage' && value === 'COLLSCAN') || (name === 'collectionScans' && Number(value) > 0)
