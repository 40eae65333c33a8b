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

/** Runs a read and returns how many keys and documents of a collection MongoDB examined for it. Other work on the database counts as well. */
export async function countExamined(
  { db }: Connection,
  collection: string,
  read: () => Promise<unknown>,
): Promise<{ keys: number; docs: number }> {
  await db!.command({ profile: 2 })
  try {
    await read()
  } finally {
    await db!.command({ profile: 0 })
  }
  const reads = await db!
    .collection<{ keysExamined: number; docsExamined: number }>('system.profile')
    .find({ ns: `${db!.databaseName}.${collection}`, keysExamined: { $exists: true } })
    .toArray()
  await db!.collection('system.profile').drop()
  return {
    keys: reads.reduce((sum, { keysExamined }) => sum + keysExamined, 0),
    docs: reads.reduce((sum, { docsExamined }) => sum + docsExamined, 0),
  }
}
