import { setTimeout as delay } from 'node:timers/promises'
import type { Clock } from './clock.ts'
import { SECOND } from './domain/shared/times.ts'
import type { Database } from './store/shared/database.ts'

/** Probes come every few seconds from several sides; indexes do not vanish that often. */
const INDEX_CHECK_LASTS_MS = 30 * SECOND
const LOOK_AGAIN_MS = SECOND / 2

interface ReadinessDeps {
  database: Pick<Database, 'connected' | 'ping' | 'missingIndexes'>
  clock: Clock
  draining: AbortSignal
}

/** Whether this process can do its work: the database is there, with the indexes that exactly once and once only rest on. */
export function createReadiness({ database, clock, draining }: ReadinessDeps) {
  let indexesSeenAt = -Infinity
  let checking: Promise<string[]> | null = null

  async function check(): Promise<string[]> {
    try {
      await database.ping()
      const now = clock.now().getTime()
      if (now - indexesSeenAt < INDEX_CHECK_LASTS_MS) return []
      const missing = await database.missingIndexes()
      if (missing.length === 0) indexesSeenAt = now
      return missing.map((index) => `index ${index}`)
    } catch {
      return ['database']
    }
  }

  /** What is missing now; those who ask at the same time get the same answer. */
  async function missing(): Promise<string[]> {
    if (draining.aborted) return ['process is stopping']
    checking ??= check().finally(() => (checking = null))
    return checking
  }

  return {
    missing,

    /** Asked before every request: costs nothing once everything was there. From then on an outage shows as an error. */
    async hasBeenReady(): Promise<boolean> {
      return indexesSeenAt > -Infinity || (await missing()).length === 0
    },

    /**
     * Waits until nothing is missing or the process is told to stop, however long that takes. `onMissing` is told when
     * what is missing changes.
     * @throws when the database can never be reached, for a wrong address or password
     */
    async waitUntilReady(onMissing: (missing: string[]) => void): Promise<void> {
      let told = ''
      const failure = database.connected.then(() => new Promise<never>(() => {}))
      while (!draining.aborted) {
        const absent = await missing()
        if (absent.length === 0) return
        if (told !== absent.join()) onMissing(absent)
        told = absent.join()
        await Promise.race([pause(LOOK_AGAIN_MS, draining), failure])
      }
    },
  }
}

async function pause(ms: number, signal: AbortSignal): Promise<void> {
  await delay(ms, undefined, { signal }).catch(() => {})
}
