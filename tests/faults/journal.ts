import { appendFileSync } from 'node:fs'
import type { Outage, ProcessExit } from './judge/evidence.ts'

/** Creates a journal that collects outages and process exits for the judge. It writes every entry to the file as a JSON line. */
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

    recordOutage(process: string, fault: string): void {
      write({ fault, process })
      outages.push({ process, from: Date.now(), until: null })
    },

    /** Ends the outages of a process that responds again. */
    recordRecovery(process: string): void {
      write({ recovered: process })
      for (const outage of outages) if (outage.process === process) outage.until ??= Date.now()
    },

    recordExit(process: string, how: string, intended: boolean): void {
      write({ ended: process, how, intended })
      exits.push({ process, at: Date.now(), how, intended })
    },
  }
}

export type Journal = ReturnType<typeof createJournal>
