import { appendFileSync } from 'node:fs'
import type { Outage, ProcessExit } from './judge/evidence.ts'

/** Records operations and their results for the judge, and writes them as JSON lines for later analysis. */
export function createJournal(file: string) {
  const outages: Outage[] = []
  const exits: ProcessExit[] = []

  function write(entry: object): void {
    appendFileSync(file, `${JSON.stringify({ at: new Date().toISOString(), ...entry })}\n`)
  }

  return {
    file,
    outages,
    exits,
    write,

    taken(what: string, how: string): void {
      write({ fault: how, what })
      outages.push({ what, from: Date.now(), until: null })
    },

    /** It answers again. */
    given(what: string): void {
      write({ back: what })
      for (const outage of outages) if (outage.what === what) outage.until ??= Date.now()
    },

    ended(process: string, how: string, intended: boolean): void {
      write({ ended: process, how, intended })
      exits.push({ process, at: Date.now(), how, intended })
    },
  }
}

export type Journal = ReturnType<typeof createJournal>
