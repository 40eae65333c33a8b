import { spawn } from 'node:child_process'
import { randomInt } from 'node:crypto'
import { closeSync, mkdirSync, openSync, readFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { dirname } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { indent, leashed, tail } from '../../scripts/provision.mjs'

/** A running process of the sandbox. */
export interface Running {
  pid: number
  logFile: string
  /** Resolves when the process has ended, for any reason. */
  ended: Promise<string>
  /** Requests a stop and forces it after a timeout. Resolves when the process has ended. */
  stop(): Promise<void>
}

export interface ProcessOptions {
  title: string
  command: string
  args: string[]
  logFile: string
  cwd?: string
  env?: NodeJS.ProcessEnv
  /** Returns whether it is ready; polled until it is. */
  ready(): Promise<boolean>
  readyWithinMs?: number
  stopWithinMs?: number
  /** Aborts the wait and ends the process. */
  signal?: AbortSignal | undefined
}

const POLL_MS = 50

/**
 * Starts a process in its own process group, so that Ctrl-C does not reach it and its owner can stop everything in
 * order. Rejects with the end of its log when it ends or does not become ready in time.
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
/** Below the ports of outgoing connections, which could otherwise take a server's port. */
const OWN_PORTS = [12_000, 30_000] as const

/** Returns the preferred port if it is free, else any free one; never the same twice in one process. */
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
