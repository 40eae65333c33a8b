import type { Running } from '../../sandbox/servers/process.ts'
import type { Journal } from './journal.ts'

/** A server or a process of the service that can be killed, stopped, frozen and started again. */
export interface ManagedProcess {
  name: string
  isUp(): boolean
  /** Starts the process on the same port and data, and resolves when it responds. Does nothing when it is running. */
  start(): Promise<void>
  /** Sends SIGKILL and resolves when the process has ended. */
  kill(): Promise<void>
  /** Stops the process gracefully, so that it can finish its current work. */
  stop(): Promise<void>
  /** Sends SIGSTOP. */
  freeze(): void
  /** Sends SIGCONT to a frozen process. */
  thaw(): void
}

export function createManagedProcess(
  name: string,
  journal: Journal,
  startProcess: () => Promise<Running>,
): ManagedProcess {
  let running: Running | null = null
  let starting: Promise<void> | null = null
  let isFrozen = false

  async function start(): Promise<void> {
    const started = await startProcess()
    running = started
    void started.ended.then((how) => {
      const intended = running !== started
      if (!intended) {
        running = null
        journal.recordOutage(name, 'unexpected exit')
      }
      journal.recordExit(name, how, intended)
    })
    journal.recordRecovery(name)
  }

  /** Ends the process on purpose: its exit is recorded as intended. */
  async function takeDown(fault: string, end: (process: Running) => Promise<unknown>): Promise<void> {
    await starting?.catch(() => {})
    const victim = running
    if (!victim) return
    running = null
    journal.recordOutage(name, fault)
    await end(victim)
    isFrozen = false
  }

  return {
    name,
    isUp: () => running !== null && !isFrozen,

    async start() {
      await starting?.catch(() => {})
      if (running) return
      starting = start()
      try {
        await starting
      } finally {
        starting = null
      }
    },

    kill: () =>
      takeDown('kill', async ({ pid, ended }) => {
        process.kill(pid, 'SIGKILL')
        await ended
      }),

    stop: () =>
      takeDown('stop', async (victim) => {
        if (isFrozen) process.kill(victim.pid, 'SIGCONT')
        await victim.stop()
      }),

    freeze() {
      if (!running || isFrozen) return
      isFrozen = true
      journal.recordOutage(name, 'freeze')
      process.kill(running.pid, 'SIGSTOP')
    },

    thaw() {
      if (!running || !isFrozen) return
      isFrozen = false
      process.kill(running.pid, 'SIGCONT')
      journal.recordRecovery(name)
    },
  }
}
