import { Writable } from 'node:stream'
import type { Context } from '../../src/context.ts'
import { createLogger } from '../../src/logger.ts'

/** Collects the texts that tests search for planted secrets (invariant I7). */

/** Creates a logger whose output can be read. */
export function createRecordedLogger() {
  let written = ''
  const destination = new Writable({
    write(chunk: Buffer, _encoding, done) {
      written += chunk.toString()
      done()
    },
  })
  return { logger: createLogger('trace', destination), written: () => written }
}

/** Returns every record as it is stored, by collection. */
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

/** Returns every record of every collection. */
export async function allRecords(context: Pick<Context, 'database'>): Promise<Record<string, unknown>[]> {
  return (await recordsByCollection(context)).flatMap(({ records }) => records)
}

/** Returns the keys of all objects in the storage. */
export async function allKeys({ storage }: Pick<Context, 'storage'>): Promise<string[]> {
  const keys: string[] = []
  for (;;) {
    const listed = await storage.list('', { after: keys.at(-1) ?? null, limit: 1_000 })
    keys.push(...listed.map(({ key }) => key))
    if (listed.length < 1_000) return keys
  }
}
