/**
 * The worker's health check in a container: succeeds when a worker of this host recently polled every task queue that it serves.
 * Reads the worker's own configuration from the environment.
 */
import { hostname } from 'node:os'
import { Connection } from '@temporalio/client'
import { readConfig } from '../config/schema.ts'
import { parseList } from '../domain/shared/lists.ts'
import { TASK_QUEUES } from '../workflows/contract/task-queues.ts'

/** An idle worker polls again after at most a minute. */
const RECENT_SECONDS = 90
const ACTIVITY_POLLERS = 2

const config = readConfig(process.env)
const named = parseList(config.WORKER_QUEUES)
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
      console.error(`No worker of this host polls the task queue ${queue}`)
      process.exitCode = 1
    }
  }
} finally {
  await connection.close()
}
