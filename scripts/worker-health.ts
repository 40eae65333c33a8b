/**
 * The worker's health check in a container: succeeds when Temporal has seen a worker of this host ask for work just now, on every
 * task queue it serves. Reads the worker's own configuration from the environment.
 */
import { hostname } from 'node:os'
import { Connection } from '@temporalio/client'
import { readConfig } from '../src/config/schema.ts'
import { TASK_QUEUES } from '../src/workflows/task-queues.ts'

/** An idle worker asks again after at most a minute. */
const RECENT_SECONDS = 90
const ACTIVITY_POLLERS = 2

const config = readConfig(process.env)
const named = config.WORKER_QUEUES.split(',')
  .map((name) => name.trim())
  .filter(Boolean)
const queues = named.length > 0 ? named : TASK_QUEUES
const oldest = Date.now() / 1_000 - RECENT_SECONDS

const connection = await Connection.connect({ address: config.TEMPORAL_ADDRESS, connectTimeout: 3_000 })
try {
  for (const queue of queues) {
    const { pollers } = await connection.workflowService.describeTaskQueue({
      namespace: config.TEMPORAL_NAMESPACE,
      taskQueue: { name: queue },
      taskQueueType: ACTIVITY_POLLERS,
    })
    const own = pollers?.some(
      ({ identity, lastAccessTime }) =>
        identity?.endsWith(`@${hostname()}`) === true && Number(lastAccessTime?.seconds ?? 0) >= oldest,
    )
    if (own !== true) {
      console.error(`No worker of this host asks for work on ${queue}`)
      process.exitCode = 1
    }
  }
} finally {
  await connection.close()
}
