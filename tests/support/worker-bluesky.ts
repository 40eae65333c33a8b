import { join } from 'node:path'
import { inject } from 'vitest'
import { startBluesky, type Bluesky } from '../../sandbox/platforms/bluesky.ts'
import type {} from './global-setup.ts'

let bluesky: Promise<Bluesky> | undefined

/**
 * Returns the Bluesky server of this vitest worker. Worlds use it one after the other and reset it when they stop, because starting a
 * server takes 2 s of processor time. It ends with the process, and the end of the run deletes its data.
 */
export function workerBluesky(): Promise<Bluesky> {
  return (bluesky ??= startBluesky({ dir: join(inject('servers').dir, `bluesky-${process.pid}`) }))
}
