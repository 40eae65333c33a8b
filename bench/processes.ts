import { fork } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { PROJECT_ROOT } from '../sandbox/options.ts'
import type { Config } from '../src/config/schema.ts'

const KILL_AFTER_MS = 30_000
const TICKS_PER_SECOND = 100
const MIB = 2 ** 20
/** A separate measured process, so that it does not share its thread with the load generator. */
export interface Child {
  pid: number
  /** Its message when it was ready, such as its address. */
  ready: unknown
  /** Rejects when it ends before it is stopped, so that callers do not wait forever for its work. */
  failed: Promise<never>
  /** Asks the process one of the questions that it answers. */
  ask<Answer>(question: string): Promise<Answer>
  stop(): Promise<void>
}

/** Starts a file of bench/processes and resolves when it is ready. It reads its configuration from the environment, like the service. */
export async function startChild(name: string, config: Config, env: Record<string, string> = {}): Promise<Child> {
  const file = join(PROJECT_ROOT, 'bench', 'processes', `${name}.ts`)
  const child = fork(file, {
    env: { ...process.env, ...settingsOf(config), ...env },
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
  })
  const failed = once(child, 'exit').then(([code]): never => {
    throw new Error(`bench/processes/${name}.ts ended with code ${code}`)
  })
  failed.catch(() => {})
  const hear = async () => ((await Promise.race([once(child, 'message'), failed])) as unknown[])[0]
  const ready = await hear()
  return {
    pid: child.pid ?? 0,
    ready,
    failed,
    async ask<Answer>(question: string) {
      child.send(question)
      return (await hear()) as Answer
    },
    async stop() {
      if (child.exitCode !== null || child.signalCode !== null) return
      const killer = setTimeout(() => child.kill('SIGKILL'), KILL_AFTER_MS)
      child.disconnect()
      await once(child, 'exit')
      clearTimeout(killer)
    },
  }
}

/** Converts a configuration to the environment variables that produce it. */
export function settingsOf(config: Config): Record<string, string> {
  return Object.fromEntries(Object.entries(config).map(([key, value]) => [key, String(value)]))
}

/** Called in a process of bench/processes: reports that it is ready, answers questions, and stops when its parent ends. */
export function serve(ready: unknown, stop: () => Promise<void>, answers: Record<string, () => unknown> = {}): void {
  process.once('disconnect', () => void stop().then(() => process.exit(0)))
  process.on('message', (question: string) => void process.send?.(answers[question]?.()))
  process.send?.(ready)
}

/** Returns the heap of the main thread of this process after a garbage collection, MiB. */
export function liveHeapMib(): number {
  setFlagsFromString('--expose-gc')
  ;(runInNewContext('gc') as () => void)()
  return process.memoryUsage().heapUsed / MIB
}

/** Called in a process of bench/processes: returns a required environment variable. */
export function setting(name: string): string {
  const value = process.env[name]
  if (value === undefined) throw new Error(`${name} is not set`)
  return value
}

/** Returns the resident memory of a process, MiB. */
export function residentMib(pid: number): number {
  const kib = /^VmRSS:\s+(\d+) kB/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]
  return Number(kib) / 1_024
}

/** Returns the processor time used by a process, milliseconds. */
export function cpuMs(pid: number): number {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]!.split(' ')
  return ((Number(fields[11]) + Number(fields[12])) * 1_000) / TICKS_PER_SECOND
}
