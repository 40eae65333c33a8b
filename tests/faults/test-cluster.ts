import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll } from 'vitest'
import { startFaultCluster, type FaultCluster } from './cluster.ts'

/**
 * Gives the tests of a file one cluster: started before the first test, healed after each, and removed after the last. The logs and the
 * journal stay after a failure.
 */
export function useFaultCluster() {
  const dir = mkdtempSync(join(tmpdir(), 'postonce-faults-'))
  let cluster: FaultCluster | undefined
  let hasFailed = false
  beforeAll(async () => void (cluster = await startFaultCluster({ dir })))
  afterEach(async ({ task }) => {
    if (task.result?.state === 'fail') hasFailed = true
    await cluster?.heal()
  })
  afterAll(async () => {
    await cluster?.stop()
    if (hasFailed) console.error(`Logs and journal: ${dir}`)
    else rmSync(dir, { recursive: true, force: true })
  })
  return {
    dir,
    /** Only inside tests and hooks: the cluster does not exist before. */
    get cluster(): FaultCluster {
      return cluster!
    },
  }
}
