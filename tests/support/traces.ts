import { Writable } from 'node:stream'
import type { Context } from '../../src/context.ts'
import { createLogger } from '../../src/logger.ts'

/** What planted secrets are looked for in (invariant I7). */

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

/** Every record of every collection. */
export async function allRecords({ database }: Pick<Context, 'database'>): Promise<Record<string, unknown>[]> {
  const collections = await database.connection.db!.collections()
  return (await Promise.all(collections.map((collection) => collection.find().toArray()))).flat()
}
