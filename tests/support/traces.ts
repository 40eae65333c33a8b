import { Writable } from 'node:stream'
import type { Context } from '../../src/context.ts'
import { createLogger } from '../../src/logger.ts'

/** Everything that is searched for planted secrets (invariant I7). */

/** A logger, and all that it wrote. */
export function keepLog() {
  let written = ''
  const destination = new Writable({
    write(chunk: Buffer, _encoding, done) {
      written += chunk.toString()
      done()
    },
  })
  return { logger: createLogger('trace', destination), written: () => written }
}

/** Every record as it lies in the database, by its collection. */
export async function recordsByCollection({
  database,
}: Pick<Context, 'database'>): Promise<{ name: string; records: Record<string, unknown>[] }[]> {
  const collections = await database.connection.db!.collections()
  return Promise.all(
    collections.map(async (collection) => ({
      name: collection.collectionName,
      records: await collection.find().toArray(),
    })),
  )
}

/** Every record of every collection. */
export async function allRecords(context: Pick<Context, 'database'>): Promise<Record<string, unknown>[]> {
  return (await recordsByCollection(context)).flatMap(({ records }) => records)
}

/** The names of all objects in storage. */
export async function allKeys({ storage }: Pick<Context, 'storage'>): Promise<string[]> {
  const keys: string[] = []
  for (;;) {
    const listed = await storage.list('', { after: keys.at(-1) ?? null, limit: 1_000 })
    keys.push(...listed.map(({ key }) => key))
    if (listed.length < 1_000) return keys
  }
}
