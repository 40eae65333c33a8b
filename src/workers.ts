import { existsSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import {
  DefaultLogger,
  NativeConnection,
  Runtime,
  Worker,
  type LogMetadata,
  type WorkerOptions,
} from '@temporalio/worker'
import { createActivities } from './activities/index.ts'
import type { Context } from './context.ts'
import { SECOND } from './domain/times.ts'
import type { Logger } from './logger.ts'
import { TASK_QUEUES, type TaskQueue } from './workflows/task-queues.ts'

const SLOW_ACTIVITIES = 20
const CONNECT_ATTEMPTS = 60

/** Made by `npm run bundle` for deployment; elsewhere it could be old, so the sources are bundled when the worker starts. */
const PREBUILT_BUNDLE = fileURLToPath(new URL('../dist/workflow-bundle.js', import.meta.url))

export interface WorkersOptions {
  /** A bundle that exists already, instead of the one found or built. */
  workflowBundle?: { codePath: string }
}

/** Starts a worker for every task queue the configuration names. */
export async function startWorkers(context: Context, options: WorkersOptions = {}) {
  const { config, logger } = context
  installRuntime(logger, config.LOG_LEVEL)
  const [connection] = await Promise.all([connect(config.TEMPORAL_ADDRESS, logger), context.platforms.warmUp()])
  const queues = queuesOf(config.WORKER_QUEUES)
  const draining = new AbortController()
  const activities = createActivities({
    ...context,
    draining: draining.signal,
    publishTimeoutMs: config.PUBLISH_TIMEOUT_MS,
    maxLatenessMs: config.DELIVERY_MAX_LATENESS_MS,
    callsInFlight: config.PLATFORM_CALLS_IN_FLIGHT,
  })
  const workflows = options.workflowBundle
    ? { workflowBundle: options.workflowBundle }
    : config.NODE_ENV === 'production' && existsSync(PREBUILT_BUNDLE)
      ? { workflowBundle: { codePath: PREBUILT_BUNDLE } }
      : { workflowsPath: fileURLToPath(new URL('./workflows/index.ts', import.meta.url)) }

  const workers = await Promise.all(
    queues.map((taskQueue) =>
      Worker.create({
        connection,
        namespace: config.TEMPORAL_NAMESPACE,
        taskQueue,
        activities,
        shutdownGraceTime: config.SHUTDOWN_GRACE_MS,
        shutdownForceTime: config.SHUTDOWN_GRACE_MS + 10 * SECOND,
        ...workerShape(taskQueue, config.WORKER_ACTIVITY_SLOTS, workflows),
      }),
    ),
  )
  const ended = Promise.all(workers.map((worker) => worker.run()))
  ended.catch(() => {})

  return {
    queues,
    /** Settles when all workers have stopped; rejects when one died. */
    ended,
    /** Takes no new work, ends waits so that others take them over, lets calls on their way finish. */
    async stop(): Promise<void> {
      for (const worker of workers) if (worker.getState() === 'RUNNING') worker.shutdown()
      draining.abort(new Error('This worker is stopping'))
      await Promise.allSettled([ended])
      await connection.close()
    },
  }
}

export function workerShape(
  taskQueue: TaskQueue,
  slots: number,
  workflows: Pick<WorkerOptions, 'workflowsPath' | 'workflowBundle'>,
): Partial<WorkerOptions> {
  switch (taskQueue) {
    case 'publishing':
      return {
        ...workflows,
        // Armed deliveries wait in their slots for the instant, and cost next to nothing there.
        maxConcurrentActivityTaskExecutions: slots,
        maxCachedWorkflows: 1_000,
        // After a worker's death its cached workflows are tried on it first, for this long.
        stickyQueueScheduleToStartTimeout: 2 * SECOND,
      }
    case 'preparing':
      return { maxConcurrentActivityTaskExecutions: SLOW_ACTIVITIES }
    case 'maintenance':
      return { ...workflows, maxConcurrentActivityTaskExecutions: SLOW_ACTIVITIES, maxCachedWorkflows: 10 }
  }
}

function queuesOf(names: string): TaskQueue[] {
  const wanted = names
    .split(',')
    .map((name) => name.trim())
    .filter(Boolean)
  const unknown = wanted.filter((name) => !TASK_QUEUES.some((queue) => queue === name))
  if (unknown.length > 0) throw new Error(`WORKER_QUEUES names unknown task queues: ${unknown.join(', ')}`)
  return wanted.length > 0 ? (wanted as TaskQueue[]) : [...TASK_QUEUES]
}

/** Waits for Temporal, so that processes may be started in any order. */
async function connect(address: string, logger: Logger): Promise<NativeConnection> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await NativeConnection.connect({ address })
    } catch (error) {
      if (attempt === CONNECT_ATTEMPTS) throw new Error(`Temporal does not answer at ${address}`, { cause: error })
      logger.warn({ address, attempt }, 'Temporal does not answer yet')
      await new Promise((resolve) => setTimeout(resolve, SECOND))
    }
  }
}

let isInstalled = false

/** Once per process: the SDK's log goes through ours, and signals are ours to handle. */
function installRuntime(logger: Logger, level: string): void {
  if (isInstalled) return
  isInstalled = true
  const threshold = level === 'silent' ? 'ERROR' : level === 'debug' || level === 'trace' ? 'DEBUG' : 'INFO'
  Runtime.install({
    shutdownSignals: [],
    logger: new DefaultLogger(threshold, ({ level: severity, message, meta }) => {
      const write = { TRACE: 'trace', DEBUG: 'debug', INFO: 'info', WARN: 'warn', ERROR: 'error' } as const
      logger[write[severity]](serializable(meta), message)
    }),
  })
}

function serializable(meta: LogMetadata | undefined): Record<string, unknown> {
  const { error, ...rest } = meta ?? {}
  return error === undefined ? rest : { ...rest, err: error }
}
