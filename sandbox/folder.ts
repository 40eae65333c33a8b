import { mkdirSync, readdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { evict, isAlive, readOwner, run, say, take } from '../scripts/provision.mjs'
import type { Options } from './options.ts'
import { readJson } from './platforms/json-file.ts'
import { isSandbox } from './settings.ts'

/** `processes.json`: the processes of this folder, including those that are still starting. */
export type Processes = Record<string, { pid: number; program: string }>

const LEFTOVER_STOPS_WITHIN_MS = 20_000
const POLL_MS = 100

export const processesFile = (dir: string) => join(dir, 'processes.json')

/**
 * Makes this process the only sandbox in the folder and prepares the folder. Returns a function that releases it.
 * @throws an error whose message is for the person who started it
 */
export async function takeFolder({ dir, fresh }: Options): Promise<() => void> {
  mkdirSync(dir, { recursive: true })
  const lock = join(dir, 'sandbox.lock')
  while (!take(lock)) {
    const owner = readOwner(lock)
    if (owner !== null && (await isStill(owner, 'sandbox/main.ts'))) {
      throw new Error(`A sandbox already runs in ${dir} (process ${owner}). Stop it first, or use another --dir.`)
    }
    if (owner !== null) evict(lock, owner)
  }
  try {
    await waitForLeftovers(dir)
    rmSync(join(dir, 'world.json'), { force: true })
    if (fresh) empty(dir)
  } catch (error) {
    rmSync(lock, { force: true })
    throw error
  }
  return () => {
    rmSync(processesFile(dir), { force: true })
    rmSync(lock, { force: true })
  }
}

/** Stops servers that outlived a killed sandbox, since they hold its data. */
async function waitForLeftovers(dir: string): Promise<void> {
  for (const [name, { pid, program }] of Object.entries(readJson<Processes>(processesFile(dir), {}))) {
    if (!(await isStill(pid, program))) continue
    say(`${name} of an earlier start is still running (process ${pid}): stopping it`)
    signal(pid, 'SIGTERM')
    const deadline = Date.now() + LEFTOVER_STOPS_WITHIN_MS
    while (await isStill(pid, program)) {
      if (Date.now() > deadline) signal(pid, 'SIGKILL')
      await delay(POLL_MS)
    }
  }
}

/** Returns whether a process still runs this program; systems reuse process ids. */
async function isStill(pid: number, program: string): Promise<boolean> {
  if (!isAlive(pid)) return false
  const command = await run('ps', ['-o', 'args=', '-p', String(pid)]).catch(() => '')
  return command.includes(program) && !command.includes('<defunct>')
}

function signal(pid: number, name: NodeJS.Signals): void {
  try {
    process.kill(pid, name)
  } catch {
    // It has already ended.
  }
}

/** Empties only folders that are clearly a sandbox, so that `--dir ~ --fresh` does no harm. */
function empty(dir: string): void {
  const entries = readdirSync(dir).filter((name) => name !== 'sandbox.lock')
  if (entries.length === 0) return
  if (!isSandbox(dir))
    throw new Error(`${dir} is not empty and is not a sandbox, so --fresh does not delete it. Choose another --dir.`)
  for (const name of entries) rmSync(join(dir, name), { recursive: true, force: true })
}
