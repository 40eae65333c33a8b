import { existsSync } from 'node:fs'
import { setTimeout as delay } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { NativeConnection, Worker, type WorkerOptions, type WorkflowBundleOption } from '@temporalio/worker'
import { countingActivities, countingWaits } from './activity-metrics.ts'
import { createActivities } from '../activities/index.ts'
import type { Config } from '../config/schema.ts'
import type { Context } from '../context.ts'
import { parseList } from '../domain/shared/lists.ts'
import { SECOND } from '../domain/shared/times.ts'
import type { Logger } from '../logger.ts'
import { installRuntime } from './sdk-runtime.ts'
import { cachedBundle } from './bundle.ts'
import { TASK_QUEUES, type TaskQueue } from '../workflows/task-queues.ts'

const SLOW_ACTIVITIES = 20
/** They mostly wait: for their turn to upload, or for a platform's work. What they hold in memory has bounds of its own. */
const PREPARATIONS = 200
/** Calls to mail servers and push services, which mostly wait. */
const NOTICES = 100
/** Messages are ids and instants: packing them costs both sides more than sending them. */
export const CONNECTION_OPTIONS = { grpcCompression: { codec: 'none' } } as const
/** Calls to the payment processor: when it hangs, so many users are waited for at a time. */
const BILLING_CALLS = 50
/** Calls to platforms for metrics: they wait for room among those to their platform. */
const METRICS_CALLS = 50
const CONNECT_AGAIN_MS = SECOND

/** The task queues whose activities prepare posts. */
const DELIVERING: ReadonlySet<TaskQueue> = new Set(['publishing', 'preparing'])

/** Made by `npm run bundle` for deployment; elsewhere it could be old. */
const PREBUILT_BUNDLE = fileURLToPath(new URL('../../dist/workflow-bundle.js', import.meta.url))

export interface WorkersOptions {
  /** A bundle that exists already, instead of the one found or built. */
  workflowBundle?: WorkflowBundleOption
  /** Ends the waiting for Temporal. */
  signal?: AbortSignal
}

/** Starts a worker for every task queue the configuration names. */
export async function startWorkers(context: Context, options: WorkersOptions = {}) {
  const { config, logger, metrics } = context
  const queues = queuesOf(config.WORKER_QUEUES)
  metrics.addSource(await installRuntime({ logger, level: config.LOG_LEVEL, hasMetrics: config.METRICS_PORT !== 0 }))
  const [connection] = await Promise.all([
    connect(config, logger, options.signal),
    queues.some((queue) => DELIVERING.has(queue)) && context.platforms.warmUp(),
  ])
  if (queues.includes('notifying') && config.SMTP_URL === '') {
    logger.warn('SMTP_URL is not set: mails wait, and go out if it is set while they are worth it')
  }
  const draining = new AbortController()
  const activities = createActivities({
    ...context,
    clock: countingWaits(context.clock, metrics),
    draining: draining.signal,
    publishTimeoutMs: config.PUBLISH_TIMEOUT_MS,
    unansweredSettleMs: config.UNANSWERED_CALL_SETTLE_MS,
    maxLatenessMs: config.DELIVERY_MAX_LATENESS_MS,
    callsInFlight: config.PLATFORM_CALLS_IN_FLIGHT,
  })
  const prebuilt = config.NODE_ENV === 'production' && existsSync(PREBUILT_BUNDLE)
  const workflowBundle = options.workflowBundle ?? (prebuilt ? { codePath: PREBUILT_BUNDLE } : await cachedBundle())

  const workers = await Promise.all(
    queues.map((taskQueue) =>
      Worker.create({
        connection,
        namespace: config.TEMPORAL_NAMESPACE,
        taskQueue,
        activities,
        interceptors: { activity: [countingActivities(metrics)] },
        shutdownGraceTime: config.SHUTDOWN_GRACE_MS,
        shutdownForceTime: config.SHUTDOWN_GRACE_MS + 10 * SECOND,
        ...workerShape(taskQueue, config.WORKER_ACTIVITY_SLOTS, { workflowBundle }),
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
      return { maxConcurrentActivityTaskExecutions: PREPARATIONS }
    case 'notifying':
      return { ...workflows, maxConcurrentActivityTaskExecutions: NOTICES, maxCachedWorkflows: 200 }
    case 'billing':
      return {
        ...workflows,
        maxConcurrentActivityTaskExecutions: BILLING_CALLS,
        // They wait for a month and more: the few that are at work fit.
        maxCachedWorkflows: 100,
        stickyQueueScheduleToStartTimeout: 2 * SECOND,
      }
    case 'analytics':
      return {
        ...workflows,
        maxConcurrentActivityTaskExecutions: METRICS_CALLS,
        maxCachedWorkflows: 50,
        // Somebody may wait for the answer of one.
        stickyQueueScheduleToStartTimeout: 2 * SECOND,
      }
    case 'maintenance':
      return { ...workflows, maxConcurrentActivityTaskExecutions: SLOW_ACTIVITIES, maxCachedWorkflows: 10 }
  }
}

function queuesOf(names: string): TaskQueue[] {
  const wanted = parseList(names)
  const unknown = wanted.filter((name) => !TASK_QUEUES.some((queue) => queue === name))
  if (unknown.length > 0) throw new Error(`WORKER_QUEUES names unknown task queues: ${unknown.join(', ')}`)
  return wanted.length > 0 ? (wanted as TaskQueue[]) : [...TASK_QUEUES]
}

/** Waits for Temporal and our namespace in it for as long as it takes, so that processes may be started in any order. */
async function connect(
  { TEMPORAL_ADDRESS: address, TEMPORAL_NAMESPACE: namespace }: Config,
  logger: Logger,
  signal?: AbortSignal,
): Promise<NativeConnection> {
  for (let attempt = 1; ; attempt++) {
    let connection: NativeConnection | undefined
    try {
      connection = await NativeConnection.connect({ address, ...CONNECTION_OPTIONS })
      await connection.workflowService.describeNamespace({ namespace })
      return connection
    } catch (error) {
      if (isLogged(attempt)) logger.warn({ address, namespace, attempt, err: error }, 'Temporal does not answer yet')
      await connection?.close()
    }
    await delay(CONNECT_AGAIN_MS, undefined, { signal })
  }
}

/** Rarer and rarer: 1, 2, 4, 8 .. */
function isLogged(attempt: number): boolean {
  return (attempt & (attempt - 1)) === 0
}
