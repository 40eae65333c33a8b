import { spawn } from 'node:child_process'
import { randomInt } from 'node:crypto'
import { closeSync, mkdirSync, openSync, readFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { dirname } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { indent, leashed, tail } from '../../scripts/provision.mjs'

/** A process of the sandbox that is up and answering. */
export interface Running {
  pid: number
  logFile: string
  /** Settles when the process has ended, for whatever reason. */
  ended: Promise<string>
  /** Asks it to stop, and makes it stop when it does not; returns when it is gone. */
  stop(): Promise<void>
}

export interface ProcessOptions {
  title: string
  command: string
  args: string[]
  logFile: string
  cwd?: string
  env?: NodeJS.ProcessEnv
  /** Whether it can be used; called again and again until it says so. */
  ready(): Promise<boolean>
  readyWithinMs?: number
  stopWithinMs?: number
  /** Ends the waiting, and the process with it. */
  signal?: AbortSignal | undefined
}

const POLL_MS = 50

/**
 * Starts a process in a process group of its own, so that Ctrl-C in the terminal does not reach it and its owner can stop
 * things in order. Fails with the end of its log when it ends or does not answer in time.
 */
export async function startProcess(options: ProcessOptions): Promise<Running> {
  const { title, logFile, readyWithinMs = 60_000, stopWithinMs = 20_000 } = options
  mkdirSync(dirname(logFile), { recursive: true })
  const log = openSync(logFile, 'a')
  const [command, args] = leashed(options.command, options.args)
  const child = spawn(command, args, {
    detached: true,
    stdio: ['ignore', log, log],
    env: options.env ?? process.env,
    ...(options.cwd === undefined ? {} : { cwd: options.cwd }),
  })
  closeSync(log)
  let how: string | null = null
  const ended = new Promise<string>((resolve) => {
    child.once('error', (error) => resolve(`could not be started (${error.message})`))
    child.once('exit', (code, signal) =>
      resolve(signal === null ? `ended with code ${code}` : `was stopped by ${signal}`),
    )
  }).then((result) => (how = result))

  const pid = child.pid ?? 0
  const running: Running = {
    pid,
    logFile,
    ended,
    async stop() {
      if (how !== null) return
      child.kill('SIGTERM')
      const killer = setTimeout(() => child.kill('SIGKILL'), stopWithinMs)
      await ended
      clearTimeout(killer)
    },
  }

  const deadline = Date.now() + readyWithinMs
  while (how === null && Date.now() < deadline && options.signal?.aborted !== true) {
    if (await options.ready().catch(() => false)) return running
    await Promise.race([ended, delay(POLL_MS)])
  }
  const problem = how ?? `did not answer within ${readyWithinMs / 1000} s`
  await running.stop()
  options.signal?.throwIfAborted()
  throw new Error(`${title} ${problem}. The end of ${logFile}:\n${indent(tail(readFileSync(logFile, 'utf8')))}`)
}

const handedOut = new Set<number>()
/** Below those of outgoing connections: one of these could have the port before the server that it is meant for. */
const OWN_PORTS = [12_000, 30_000] as const

/** The preferred port if nobody has it, else any free one; never the same twice in one process. */
export async function freePort(preferred?: number): Promise<number> {
  if (preferred !== undefined && !handedOut.has(preferred) && (await probePort(preferred)) !== null)
    return taken(preferred)
  for (;;) {
    const port = await probePort(randomInt(...OWN_PORTS))
    if (port !== null && !handedOut.has(port)) return taken(port)
  }
}

function taken(port: number): number {
  handedOut.add(port)
  return port
}

function probePort(port: number): Promise<number | null> {
  return new Promise((resolve) => {
    const server = createServer()
    server.once('error', () => resolve(null))
    server.listen(port, '127.0.0.1', () => {
      const address = server.address()
      server.close(() => resolve(address !== null && typeof address === 'object' ? address.port : null))
    })
  })
}
