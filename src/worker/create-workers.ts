import { existsSync } from 'node:fs'
import { setTimeout as delay } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { NativeConnection, Worker, type WorkerOptions, type WorkflowBundleOption } from '@temporalio/worker'
import { createActivityMetrics, countArmedWaits } from './activity-metrics.ts'
import { createActivities } from '../activities/index.ts'
import { createRunningWork } from '../activities/shared/running-work.ts'
import type { Config } from '../config/schema.ts'
import type { Context } from '../context.ts'
import { withDeadline } from '../flow/deadlines.ts'
import { parseList } from '../domain/shared/lists.ts'
import { SECOND } from '../domain/shared/times.ts'
import type { Logger } from '../logger.ts'
import { installSdkRuntime } from './sdk-runtime.ts'
import { loadBundle } from './bundle.ts'
import type { DeliveryResult } from '../workflows/contract/publishing.ts'
import { TASK_QUEUES, type TaskQueue } from '../workflows/contract/task-queues.ts'

/** Concurrent workflow tasks, which publish immediate texts. A processor core publishes some 50 of them a second. */
const WORKFLOW_TASKS = 100
const MAINTENANCE_ACTIVITIES = 20
/** Messages are small, so compressing them costs more than sending them. */
export const CONNECTION_OPTIONS = { grpcCompression: { codec: 'none' } } as const
/** Concurrent calls to the payment processor. */
const BILLING_CALLS = 50
/** Concurrent metrics activities: the collectors of both runs, and single accounts and posts on request. */
const METRICS_ACTIVITIES = 100
const RECONNECT_DELAY_MS = SECOND

/** The task queues whose activities prepare posts. */
const DELIVERING: ReadonlySet<TaskQueue> = new Set(['publishing', 'preparing'])

/** The output of `npm run bundle`, used in production only. Elsewhere it may be outdated. */
const PREBUILT_BUNDLE = fileURLToPath(new URL('../../dist/workflow-bundle.js', import.meta.url))

export interface WorkersOptions {
  /** An existing bundle, instead of the cached or a new one. */
  workflowBundle?: WorkflowBundleOption
  /** Ends the wait for Temporal. */
  signal?: AbortSignal
}

/** Starts a worker for every task queue the configuration names. */
export async function startWorkers(context: Context, options: WorkersOptions = {}) {
  const { config, logger, metrics } = context
  const queues = parseQueues(config.WORKER_QUEUES)
  metrics.addSource(await installSdkRuntime({ logger, level: config.LOG_LEVEL, hasMetrics: config.METRICS_PORT !== 0 }))
  const [connection] = await Promise.all([
    connect(config, logger, options.signal),
    queues.some((queue) => DELIVERING.has(queue)) && context.platforms.warmUp(),
  ])
  if (queues.includes('notifying') && config.SMTP_URL === '') {
    logger.warn('SMTP_URL is not set, mails wait until they expire')
  }
  const draining = new AbortController()
  const running = createRunningWork<DeliveryResult>()
  const activities = createActivities({
    ...context,
    running,
    clock: countArmedWaits(context.clock, metrics),
    draining: draining.signal,
    publishTimeoutMs: config.PUBLISH_TIMEOUT_MS,
    unansweredSettleMs: config.UNANSWERED_CALL_SETTLE_MS,
    maxLatenessMs: config.DELIVERY_MAX_LATENESS_MS,
    callsInFlight: config.PLATFORM_CALLS_IN_FLIGHT,
    activitySlots: config.WORKER_ACTIVITY_SLOTS,
    preparationSlots: config.WORKER_PREPARATION_SLOTS,
    notificationSlots: config.WORKER_NOTIFICATION_SLOTS,
    webhookSlots: config.WORKER_WEBHOOK_SLOTS,
  })
  const prebuilt = config.NODE_ENV === 'production' && existsSync(PREBUILT_BUNDLE)
  const workflowBundle = options.workflowBundle ?? (prebuilt ? { codePath: PREBUILT_BUNDLE } : await loadBundle())

  const workers = await Promise.all(
    queues.map((taskQueue) =>
      Worker.create({
        connection,
        namespace: config.TEMPORAL_NAMESPACE,
        taskQueue,
        activities,
        interceptors: { activity: [createActivityMetrics(metrics)] },
        shutdownGraceTime: config.SHUTDOWN_GRACE_MS,
        shutdownForceTime: config.SHUTDOWN_GRACE_MS + 10 * SECOND,
        ...toWorkerOptions(taskQueue, config, { workflowBundle }),
      }),
    ),
  )
  const ended = Promise.all(workers.map((worker) => worker.run()))
  ended.catch(() => {})

  return {
    queues,
    /** Resolves when all workers have stopped, and rejects when a worker dies. */
    ended,
    /** Stops polling, moves waiting deliveries to other workers, and lets running calls finish. */
    async stop(): Promise<void> {
      for (const worker of workers) if (worker.getState() === 'RUNNING') worker.shutdown()
      draining.abort(new Error('This worker is stopping'))
      await Promise.allSettled([ended])
      await withDeadline(running.ended(), config.SHUTDOWN_GRACE_MS, () => new Error('calls take too long')).catch(
        () => {},
      )
      await connection.close()
    },
  }
}

type WorkerSlots = Pick<
  Config,
  'WORKER_ACTIVITY_SLOTS' | 'WORKER_PREPARATION_SLOTS' | 'WORKER_NOTIFICATION_SLOTS' | 'WORKER_WEBHOOK_SLOTS'
>

/** The limits of the worker for a task queue. */
export function toWorkerOptions(
  taskQueue: TaskQueue,
  slots: WorkerSlots,
  workflows: Pick<WorkerOptions, 'workflowsPath' | 'workflowBundle'>,
): Partial<WorkerOptions> {
  switch (taskQueue) {
    case 'publishing':
      return {
        ...workflows,
        // Armed deliveries wait in their slots until they are due, and cost almost nothing there.
        maxConcurrentActivityTaskExecutions: slots.WORKER_ACTIVITY_SLOTS,
        maxConcurrentWorkflowTaskExecutions: WORKFLOW_TASKS,
        maxConcurrentLocalActivityExecutions: WORKFLOW_TASKS,
        // An evicted workflow is replayed when its deliveries end.
        maxCachedWorkflows: Math.max(1_000, Math.ceil(slots.WORKER_ACTIVITY_SLOTS / 2)),
        // Temporal retries the cached workflows of a dead worker on that worker for this long.
        stickyQueueScheduleToStartTimeout: 2 * SECOND,
      }
    case 'preparing':
      return { maxConcurrentActivityTaskExecutions: slots.WORKER_PREPARATION_SLOTS }
    case 'notifying':
      return {
        ...workflows,
        maxConcurrentActivityTaskExecutions: slots.WORKER_NOTIFICATION_SLOTS,
        maxCachedWorkflows: 200,
      }
    case 'billing':
      return {
        ...workflows,
        maxConcurrentActivityTaskExecutions: BILLING_CALLS,
        // Most workflows wait for a month or more, so the cache holds the few active ones.
        maxCachedWorkflows: 100,
        stickyQueueScheduleToStartTimeout: 2 * SECOND,
      }
    case 'analytics':
      return {
        ...workflows,
        maxConcurrentActivityTaskExecutions: METRICS_ACTIVITIES,
        maxCachedWorkflows: 200,
        // A user may wait for the result of a refresh.
        stickyQueueScheduleToStartTimeout: 2 * SECOND,
      }
    case 'webhooks':
      return {
        ...workflows,
        maxConcurrentActivityTaskExecutions: slots.WORKER_WEBHOOK_SLOTS,
        maxCachedWorkflows: 200,
        stickyQueueScheduleToStartTimeout: 2 * SECOND,
      }
    case 'maintenance':
      return { ...workflows, maxConcurrentActivityTaskExecutions: MAINTENANCE_ACTIVITIES, maxCachedWorkflows: 10 }
  }
}

function parseQueues(names: string): TaskQueue[] {
  const wanted = parseList(names)
  const unknown = wanted.filter((name) => !TASK_QUEUES.some((queue) => queue === name))
  if (unknown.length > 0) throw new Error(`WORKER_QUEUES names unknown task queues: ${unknown.join(', ')}`)
  return wanted.length > 0 ? (wanted as TaskQueue[]) : [...TASK_QUEUES]
}

/** Waits for Temporal and the namespace without a limit, so that processes may start in any order. */
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
      if (isPowerOfTwo(attempt))
        logger.warn({ address, namespace, attempt, err: error }, 'temporal unavailable, retrying')
      await connection?.close()
    }
    await delay(RECONNECT_DELAY_MS, undefined, { signal })
  }
}

/** True for the attempts 1, 2, 4, 8 and so on. */
function isPowerOfTwo(attempt: number): boolean {
  return (attempt & (attempt - 1)) === 0
}
