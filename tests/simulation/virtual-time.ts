import crypto from 'node:crypto'
import { syncBuiltinESMExports } from 'node:module'
import { install } from '@sinonjs/fake-timers'
import type { Random } from '../faults/random.ts'

const realImmediate = setImmediate
const TIMERS_PER_TURN = 100

/**
 * Replaces the clock, all timers and the sources of randomness of this process, so that code runs as fast as it can and the same way for the
 * same seed. Between two timers every promise that can settle does; code that waits for real input or output must not run meanwhile.
 */
export function startVirtualTime(startAt: number, random: Random) {
  const clock = install({
    now: startAt,
    toFake: [
      'setTimeout',
      'clearTimeout',
      'setInterval',
      'clearInterval',
      'setImmediate',
      'clearImmediate',
      'Date',
      'performance',
    ],
  })
  const real = { random: Math.random, randomUUID: crypto.randomUUID, timeout: AbortSignal.timeout }
  const hex = (digits: number) => Array.from({ length: digits }, () => random.between(0, 15).toString(16)).join('')
  Math.random = () => random.between(0, 2 ** 31) / (2 ** 31 + 1)
  crypto.randomUUID = () => `${hex(8)}-${hex(4)}-4${hex(3)}-a${hex(3)}-${hex(12)}`
  AbortSignal.timeout = (ms) => {
    const controller = new AbortController()
    setTimeout(() => controller.abort(new DOMException('The operation timed out', 'TimeoutError')), ms)
    return controller.signal
  }
  // Modules that import these by name see the replacements.
  syncBuiltinESMExports()

  return {
    /** Runs timers in their order until `isDone` returns true, no timer is left, or the next one is later than `until`. */
    run(isDone: () => boolean, until: number): Promise<void> {
      return new Promise((resolve, reject) => {
        let hasEnded = false
        // Between two immediates every promise that the timer settled goes on. A turn of the event loop with many of them costs little more
        // than one with a single one.
        const runNext = () => {
          if (hasEnded) return
          try {
            hasEnded = isDone() || clock.countTimers() === 0 || Date.now() >= until
            if (!hasEnded) clock.next()
          } catch (error) {
            hasEnded = true
            reject(new Error('A timer failed', { cause: error }))
          }
        }
        const turn = () => {
          if (hasEnded) return resolve()
          for (let count = 0; count < TIMERS_PER_TURN; count++) realImmediate(runNext)
          realImmediate(turn)
        }
        turn()
      })
    },

    stop(): void {
      clock.uninstall()
      Math.random = real.random
      crypto.randomUUID = real.randomUUID
      AbortSignal.timeout = real.timeout
      syncBuiltinESMExports()
    },
  }
}
