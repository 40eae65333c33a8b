import { setTimeout as delay } from 'node:timers/promises'
import { say } from '../scripts/provision.mjs'
import type { Running } from './servers/process.ts'

const RESTART_AFTER_MS = 1_000
const RETRY_AFTER_MS = 5_000

export interface Supervised<T extends Running> {
  /** The one that runs now; after a restart another. */
  current(): T
  stop(): Promise<void>
}

/** Starts a process and, whenever it ends without having been told to, starts it again after a second, until `stopping`. */
export async function supervise<T extends Running>(
  title: string,
  start: (signal: AbortSignal) => Promise<T>,
  { changed, stopping }: { changed: () => void; stopping: AbortController },
): Promise<Supervised<T>> {
  let current = await start(stopping.signal)
  changed()
  const watching = watch()

  async function watch(): Promise<void> {
    while (!stopping.signal.aborted) {
      const how = await current.ended
      if (stopping.signal.aborted) return
      say(`\n  ${title} ${how}; it is started again in a second. Its log: ${current.logFile}`)
      await restart()
    }
  }

  async function restart(): Promise<void> {
    for (let wait = RESTART_AFTER_MS; await pause(wait); wait = RETRY_AFTER_MS) {
      try {
        current = await start(stopping.signal)
        changed()
        say(`  ${title} is back (process ${current.pid})`)
        return
      } catch (error) {
        if (stopping.signal.aborted) return
        say(`  ${error instanceof Error ? error.message : String(error)}`)
      }
    }
  }

  /** False when it is all to stop. */
  async function pause(ms: number): Promise<boolean> {
    await delay(ms, undefined, { signal: stopping.signal }).catch(() => {})
    return !stopping.signal.aborted
  }

  return {
    current: () => current,
    async stop() {
      stopping.abort()
      await current.stop()
      await watching
      // One that was just being started again.
      await current.stop()
    },
  }
}
