import { setTimeout as delay } from 'node:timers/promises'
import type { Clock } from './clock.ts'
import { SECOND } from './domain/shared/times.ts'
import type { Database } from './store/shared/database.ts'
import { findVersionError, type SchemaVersionError } from './store/shared/schema-version.ts'

/** The schema is not checked again for this long: several clients probe every few seconds, and it rarely changes. */
const SCHEMA_CHECK_VALID_MS = 30 * SECOND
const CHECK_INTERVAL_MS = SECOND / 2

interface ReadinessDeps {
  database: Database
  clock: Clock
  draining: AbortSignal
}

/**
 * Checks that this process can work: MongoDB answers, its records have the form of this release, and it has the indexes that
 * exactly-once publishing needs.
 */
export function createReadiness({ database, clock, draining }: ReadinessDeps) {
  let schemaFoundAt = -Infinity
  let versionError: SchemaVersionError | null = null
  let checking: Promise<string[]> | null = null

  async function check(): Promise<string[]> {
    try {
      await database.ping()
      const now = clock.now().getTime()
      if (now - schemaFoundAt < SCHEMA_CHECK_VALID_MS) return []
      const missing = await findMissingSchema()
      if (missing.length === 0) schemaFoundAt = now
      return missing
    } catch {
      return ['database']
    }
  }

  async function findMissingSchema(): Promise<string[]> {
    const version = await database.readSchemaVersion()
    versionError = version === null ? null : findVersionError(version)
    if (versionError) return [`the schema version of this release (the database has ${version})`]
    const indexes = (await database.missingIndexes()).map((index) => `index ${index}`)
    return version === null ? ['schema version', ...indexes] : indexes
  }

  /** Lists what is missing now. Concurrent callers share one check. */
  async function missing(): Promise<string[]> {
    if (draining.aborted) return ['process is stopping']
    checking ??= check().finally(() => (checking = null))
    return checking
  }

  return {
    missing,

    /** Called before every request. After the first success it costs nothing, and outages show as errors. */
    async hasBeenReady(): Promise<boolean> {
      return schemaFoundAt > -Infinity || (await missing()).length === 0
    },

    /**
     * Waits without a limit until nothing is missing or the process stops.
     * @param onMissing called whenever the list of missing things changes
     * @throws when the database address or password is wrong, and SchemaVersionError when another release wrote the records
     */
    async waitUntilReady(onMissing: (missing: string[]) => void): Promise<void> {
      let reported = ''
      const failure = database.connected.then(() => new Promise<never>(() => {}))
      while (!draining.aborted) {
        const absent = await missing()
        if (versionError) throw versionError
        if (absent.length === 0) return
        if (reported !== absent.join()) onMissing(absent)
        reported = absent.join()
        await Promise.race([pause(CHECK_INTERVAL_MS, draining), failure])
      }
    },
  }
}

async function pause(ms: number, signal: AbortSignal): Promise<void> {
  await delay(ms, undefined, { signal }).catch(() => {})
}
