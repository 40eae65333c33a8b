import type { Running } from '../../sandbox/servers/process.ts'
import type { Journal } from './journal.ts'

/** A server or a process of the service, which can be taken away and given back in every way there is. */
export interface Part {
  name: string
  isUp(): boolean
  /** Starts it again, on the same port and data; returns when it answers. Does nothing when it is up. */
  start(): Promise<void>
  /** SIGKILL; returns when it is gone. */
  kill(): Promise<void>
  /** As an operator would: it may finish what it does. */
  stop(): Promise<void>
  freeze(): void
  thaw(): void
}

export function createPart(name: string, journal: Journal, startProcess: () => Promise<Running>): Part {
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
        journal.taken(name, 'ended by itself')
      }
      journal.ended(name, how, intended)
    })
    journal.given(name)
  }

  /** Whatever ends from here on was meant to. */
  async function take(how: string, end: (process: Running) => Promise<unknown>): Promise<void> {
    await starting?.catch(() => {})
    const victim = running
    if (!victim) return
    running = null
    journal.taken(name, how)
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
      take('kill', async ({ pid, ended }) => {
        process.kill(pid, 'SIGKILL')
        await ended
      }),

    stop: () =>
      take('stop', async (victim) => {
        if (isFrozen) process.kill(victim.pid, 'SIGCONT')
        await victim.stop()
      }),

    freeze() {
      if (!running || isFrozen) return
      isFrozen = true
      journal.taken(name, 'freeze')
      process.kill(running.pid, 'SIGSTOP')
    },

    thaw() {
      if (!running || !isFrozen) return
      isFrozen = false
      process.kill(running.pid, 'SIGCONT')
      journal.given(name)
    },
  }
}
