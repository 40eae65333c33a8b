import { mkdirSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { MockDatabase, type PlcDatabase } from '@did-plc/server'
import { readJson, writeJson } from '../json-file.ts'

type Operation = Parameters<PlcDatabase['validateAndAddOp']>[1]

interface OperationLog {
  did: string
  operations: { operation: Operation; createdAt: string }[]
}

/**
 * A database for the DID directory with one file per DID. The directory supports PostgreSQL, which the sandbox does not
 * have, and memory, which loses everything at a restart. This one is in memory and reloads from disk.
 */
export async function openPlcDatabase(folder: string): Promise<PlcDatabase> {
  mkdirSync(folder, { recursive: true })
  const memory = new MockDatabase()
  const writes = new Map<string, Promise<void>>()

  for (const name of readdirSync(folder).filter((file) => file.endsWith('.json'))) {
    const { did, operations } = readJson<OperationLog>(join(folder, name), {
      did: '',
      operations: [],
    })
    for (const { operation, createdAt } of operations) {
      await memory.validateAndAddOp(did, operation)
      memory.contents[did]!.at(-1)!.createdAt = new Date(createdAt)
    }
  }

  async function append(did: string, proposed: Operation): Promise<void> {
    await memory.validateAndAddOp(did, proposed)
    const operations = (memory.contents[did] ?? []).map(({ operation, createdAt }) => ({ operation, createdAt }))
    writeJson(join(folder, `${did.replaceAll(':', '_')}.json`), {
      did,
      operations,
    })
  }

  return {
    async close() {},
    async healthCheck() {},
    /** Adds a DID's operations one after the other, since each must reference the previous one. */
    async validateAndAddOp(did, proposed) {
      const write = (writes.get(did) ?? Promise.resolve()).catch(() => undefined).then(() => append(did, proposed))
      writes.set(did, write)
      await write.finally(() => {
        if (writes.get(did) === write) writes.delete(did)
      })
    },
    opsForDid: (did) => memory.opsForDid(did),
    indexedOpsForDid: (did, includeNullified) => memory.indexedOpsForDid(did, includeNullified),
    lastOpForDid: (did) => memory.lastOpForDid(did),
    async exportOps(count, after) {
      const all = Object.values(memory.contents).flat()
      return all
        .filter((op) => !after || op.createdAt > after)
        .sort((a, b) => a.createdAt.getTime() - b.createdAt.getTime())
        .slice(0, count)
        .map((op) => ({
          ...op,
          cid: op.cid.toString(),
          createdAt: op.createdAt.toISOString(),
        }))
    },
  }
}
