import { readdirSync, readFileSync } from 'node:fs'
import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { addSelfTimes, noSelfTimes, type CpuProfile, type SelfTimes, type Window } from './cpu-profile.ts'

const ROWS = 20
const TICKS_PER_SECOND = 100

interface Measured extends Window {
  label: string
  pid: number
  /** Posts or requests that were processed in this time. */
  count: number
  /** Processor time by thread name, milliseconds, including native threads. */
  threads: Map<string, number>
}

export interface Profiling {
  /** Arguments for Node that write a profile of each thread when the process ends. */
  nodeArguments: string[]
  /** Runs the work and marks its time as the part of the profile that counts. */
  measure<T>(label: string, process: { pid: number }, count: (result: T) => number, work: () => Promise<T>): Promise<T>
  /** Returns where the time was spent; call it after the processes have ended. */
  report(): string
}

/** Profiles the measured processes. The profiler slows them down, so the figures of such a run do not count. */
export async function startProfiling(folder: string): Promise<Profiling> {
  await mkdir(folder, { recursive: true })
  const all: Measured[] = []
  return {
    nodeArguments: ['--cpu-prof', `--cpu-prof-dir=${folder}`],
    async measure(label, { pid }, count, work) {
      const before = threadTimes(pid)
      const from = microseconds()
      const result = await work()
      const to = microseconds()
      const threads = new Map<string, number>()
      for (const [id, { name, ms }] of threadTimes(pid)) {
        threads.set(name, (threads.get(name) ?? 0) + ms - (before.get(id)?.ms ?? 0))
      }
      all.push({ label, pid, from, to, count: count(result), threads })
      return result
    },
    report() {
      const labels = [...new Set(all.map(({ label }) => label))]
      return labels
        .map((label) =>
          reportOf(
            label,
            folder,
            all.filter((measured) => measured.label === label),
          ),
        )
        .join('\n\n')
    },
  }
}

function reportOf(label: string, folder: string, all: Measured[]): string {
  const times = noSelfTimes()
  const threads = new Map<string, number>()
  for (const measured of all) {
    for (const profile of profilesOf(folder, measured.pid)) addSelfTimes(times, profile, measured)
    for (const [name, ms] of measured.threads) threads.set(name, (threads.get(name) ?? 0) + ms)
  }
  const count = all.reduce((sum, measured) => sum + measured.count, 0)
  const perPiece = (microsecondsSpent: number) => microsecondsSpent / 1_000 / count
  const sections: [string, Map<string, number>][] = [
    ['by thread, processor time', new Map([...threads].map(([name, ms]) => [name, ms * 1_000]))],
    ['by module, self time of the JavaScript threads', times.module],
    ['by function, self time', times.function],
    ['by nearest own function, with all it calls before the next await', times.own],
  ]
  return [
    `── ${label}: ms for each of ${count}`,
    ...sections.map(([title, spent]) => `${title}\n${rowsOf(spent, perPiece)}`),
  ].join('\n')
}

function rowsOf(spent: SelfTimes[keyof SelfTimes], perPiece: (us: number) => number): string {
  const total = [...spent.values()].reduce((sum, us) => sum + us, 0)
  const rows = [...spent].toSorted(([, a], [, b]) => b - a).slice(0, ROWS)
  return [['all', total] as const, ...rows]
    .map(
      ([name, us]) => `${perPiece(us).toFixed(3).padStart(9)} ${((100 * us) / total).toFixed(1).padStart(5)}%  ${name}`,
    )
    .join('\n')
}

/** Node writes one file per thread: `CPU.<date>.<time>.<pid>.<thread>.<number>.cpuprofile`. */
function profilesOf(folder: string, pid: number): CpuProfile[] {
  return readdirSync(folder)
    .filter((file) => file.split('.')[3] === String(pid))
    .map((file) => JSON.parse(readFileSync(join(folder, file), 'utf8')) as CpuProfile)
}

const microseconds = (): number => Number(process.hrtime.bigint() / 1_000n)

/** Returns the processor time of each thread; empty where the system does not report it. */
function threadTimes(pid: number): Map<string, { name: string; ms: number }> {
  const times = new Map<string, { name: string; ms: number }>()
  try {
    for (const id of readdirSync(`/proc/${pid}/task`)) {
      const stat = readFileSync(`/proc/${pid}/task/${id}/stat`, 'utf8')
      const name = stat.slice(stat.indexOf('(') + 1, stat.lastIndexOf(')'))
      const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
      times.set(id, { name, ms: ((Number(fields[11]) + Number(fields[12])) * 1_000) / TICKS_PER_SECOND })
    }
  } catch {
    return times
  }
  return times
}
