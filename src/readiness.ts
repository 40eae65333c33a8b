import { setTimeout as delay } from 'node:timers/promises'
import type { Clock } from './clock.ts'
import { SECOND } from './domain/shared/times.ts'
import type { Database } from './store/shared/database.ts'

/** The indexes are not checked again for this long: several clients probe every few seconds, and indexes rarely disappear. */
const INDEX_CHECK_VALID_MS = 30 * SECOND
const CHECK_INTERVAL_MS = SECOND / 2

interface ReadinessDeps {
  database: Pick<Database, 'connected' | 'ping' | 'missingIndexes'>
  clock: Clock
  draining: AbortSignal
}

/** Checks that this process can work: MongoDB answers and has the indexes that exactly-once publishing needs. */
export function createReadiness({ database, clock, draining }: ReadinessDeps) {
  let indexesFoundAt = -Infinity
  let checking: Promise<string[]> | null = null

  async function check(): Promise<string[]> {
    try {
      await database.ping()
      const now = clock.now().getTime()
      if (now - indexesFoundAt < INDEX_CHECK_VALID_MS) return []
      const missing = await database.missingIndexes()
      if (missing.length === 0) indexesFoundAt = now
      return missing.map((index) => `index ${index}`)
    } catch {
      return ['database']
    }
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
      return indexesFoundAt > -Infinity || (await missing()).length === 0
    },

    /**
     * Waits without a limit until nothing is missing or the process stops.
     * @param onMissing called whenever the list of missing things changes
     * @throws when the database address or password is wrong
     */
    async waitUntilReady(onMissing: (missing: string[]) => void): Promise<void> {
      let reported = ''
      const failure = database.connected.then(() => new Promise<never>(() => {}))
      while (!draining.aborted) {
        const absent = await missing()
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
