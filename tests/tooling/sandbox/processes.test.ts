import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { freePort, startProcess, type ProcessOptions, type Running } from '../../../sandbox/servers/process.ts'
import { supervise } from '../../../sandbox/supervisor.ts'
import { isAlive } from '../../../scripts/provision.mjs'
import { temporaryFolder } from '../../support/temporary-folder.ts'

let home: string
const started: { stop(): Promise<void> }[] = []

beforeEach(() => {
  home = temporaryFolder()
  vi.spyOn(process.stderr, 'write').mockReturnValue(true)
})

afterEach(async () => {
  for (const one of started.splice(0)) await one.stop()
  vi.restoreAllMocks()
})

/** Starts a shell script that is ready when it has created the file `ready`. */
async function startShell(script: string, options: Partial<ProcessOptions> = {}): Promise<Running> {
  const ready = join(home, 'ready')
  const running = await startProcess({
    title: 'The shell',
    command: 'sh',
    args: ['-c', script.replaceAll('READY', `touch ${ready}`)],
    logFile: join(home, 'shell.log'),
    ready: async () => existsSync(ready),
    ...options,
  })
  started.push(running)
  return running
}

test('a process that ends before it is ready is reported with the end of its log', async () => {
  await expect(startShell('echo the disk is full; exit 3')).rejects.toThrow(
    /The shell ended with code 3\. The end of .*shell\.log:\n {4}the disk is full/,
  )
})

test('a process that never becomes ready is stopped', async () => {
  const pid = join(home, 'pid')
  const starting = startShell(`echo $$ > ${pid}; exec sleep 60`, { readyWithinMs: 300 })
  await expect(starting).rejects.toThrow(/The shell did not answer within 0\.3 s/)
  expect(isAlive(Number(readFileSync(pid, 'utf8')))).toBe(false)
})

test('the wait for a process ends when it is aborted', async () => {
  const stopping = new AbortController()
  const starting = startShell('exec sleep 60', { signal: stopping.signal })
  stopping.abort(new Error('no longer wanted'))
  await expect(starting).rejects.toThrow('no longer wanted')
})

test('a process that ignores the stop signal is killed', async () => {
  const running = await startShell('trap "" TERM; READY; while true; do sleep 0.05; done', { stopWithinMs: 200 })
  await running.stop()
  expect(await running.ended).toBe('was stopped by SIGKILL')
  expect(isAlive(running.pid)).toBe(false)
})

test.runIf(process.platform === 'linux')('a process ends with its parent, however the parent ends', async () => {
  const script = join(home, 'parent.mjs')
  const modulePath = join(import.meta.dirname, '../../../sandbox/servers/process.ts')
  writeFileSync(
    script,
    `import { readFileSync } from 'node:fs'
    import { startProcess } from ${JSON.stringify(modulePath)}
    const logFile = ${JSON.stringify(join(home, 'sleep.log'))}
    // Until it prints this, it may not yet be tied to its parent.
    const ready = async () => readFileSync(logFile, 'utf8').includes('up')
    const { pid } = await startProcess({ title: 'x', command: 'sh', args: ['-c', 'echo up; exec sleep 60'], logFile, ready })
    console.log(pid)
    setInterval(() => {}, 1000)`,
  )
  const parent = spawn(process.execPath, [script], { stdio: ['ignore', 'pipe', 'inherit'] })
  const [line] = (await once(parent.stdout, 'data')) as [Buffer]
  const pid = Number(line.toString())
  expect(isAlive(pid)).toBe(true)
  parent.kill('SIGKILL')
  await vi.waitUntil(() => !isAlive(pid), { timeout: 50_000 })
})

test('a supervised process restarts after a kill, and stays stopped after a stop', async () => {
  const changed = vi.fn<() => void>()
  const supervised = await supervise('The shell', () => startShell('READY; exec sleep 60'), {
    changed,
    stopping: new AbortController(),
  })
  const first = supervised.current().pid
  process.kill(first, 'SIGKILL')
  await vi.waitUntil(() => supervised.current().pid !== first, { timeout: 50_000 })
  expect(isAlive(supervised.current().pid)).toBe(true)
  expect(changed).toHaveBeenCalledTimes(2)

  await supervised.stop()
  expect(isAlive(supervised.current().pid)).toBe(false)
})

test('a supervised process can be stopped during its restart', async () => {
  const pids: number[] = []
  const supervised = await supervise(
    'The shell',
    async () => {
      const running = await startShell('READY; exec sleep 60')
      pids.push(running.pid)
      if (pids.length > 1) await delay(300)
      return running
    },
    { changed: () => {}, stopping: new AbortController() },
  )
  process.kill(supervised.current().pid, 'SIGKILL')
  await vi.waitUntil(() => pids.length === 2, { timeout: 50_000 })
  await supervised.stop()
  expect(pids.filter(isAlive)).toEqual([])
})

test('ports are never assigned twice, and a used port is replaced by another', async () => {
  const port = await freePort()
  expect(await freePort(port)).not.toBe(port)
  const ports = await Promise.all(Array.from({ length: 20 }, () => freePort()))
  expect(new Set([...ports, port]).size).toBe(21)
})
