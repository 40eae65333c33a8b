import { setTimeout as delay } from 'node:timers/promises'
import { say } from '../scripts/provision.mjs'
import type { Running } from './servers/process.ts'

const RESTART_AFTER_MS = 1_000
const RETRY_AFTER_MS = 5_000

export interface Supervised<T extends Running> {
  /** The current process; another one after a restart. */
  current(): T
  stop(): Promise<void>
}

/** Starts a process and restarts it a second after it ends unexpectedly, until `stopping`. */
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
      say(`\n  ${title} ${how}; restarting it in a second. See its log: ${current.logFile}`)
      await restart()
    }
  }

  async function restart(): Promise<void> {
    for (let wait = RESTART_AFTER_MS; await pause(wait); wait = RETRY_AFTER_MS) {
      try {
        current = await start(stopping.signal)
        changed()
        say(`${title} is running again (process ${current.pid})`)
        return
      } catch (error) {
        if (stopping.signal.aborted) return
        say(`  ${error instanceof Error ? error.message : String(error)}`)
      }
    }
  }

  /** Returns false when everything is stopping. */
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
      // A restart may have started another process meanwhile.
      await current.stop()
    },
  }
}
