import {
  Connection,
  ScheduleAlreadyRunning,
  ScheduleOverlapPolicy,
  WorkflowClient,
  WorkflowFailedError,
  WorkflowNotFoundError,
  isGrpcServiceError,
  ScheduleClient,
  ScheduleNotFoundError,
  type ScheduleDescription,
  type WorkflowSignalWithStartOptions,
} from '@temporalio/client'
import { toPublishPlan } from '../../domain/posts/publish-plan.ts'
import { platformLabel, type Platform } from '../../domain/shared/platforms.ts'
import type { Post } from '../../domain/posts/post.ts'
import { MINUTE, SECOND } from '../../domain/shared/times.ts'
import {
  paymentEventSignal,
  PUBLISH_SIGNALS,
  publishPostWorkflowId,
  REFRESH_LASTS_MS,
  refreshWorkflowId,
  SUBSCRIPTION_SUMMARY,
  type BackgroundWork,
  type PaymentNews,
  type PublishSignal,
  type RefreshOutcome,
} from '../../workflows/messages.ts'
import { scheduledWorkflows, SWEEP, type ScheduledWorkflow } from '../../workflows/schedules.ts'
import { TASK_QUEUES, TASKS_OF, type TaskKind, type TaskQueue } from '../../workflows/task-queues.ts'
import { attributesOf, createSearchAttributes, createTaggedStarts, listOpenPosts } from './search-attributes.ts'
import { startOptions, workOptions, type WorkOptions } from './workflow-options.ts'
import { terminateIfStuck, type StuckWorkflow } from './stuck-workflows.ts'

/** Temporal may take this long inside a request; then the request goes on without it, and the sweeper makes up for it. */
const CALL_DEADLINE_MS = SECOND
const TERMINATE_DEADLINE_MS = 3 * SECOND
const ATTRIBUTES_DEADLINE_MS = 10 * SECOND
const FORGET_DEADLINE_MS = 20 * SECOND
/** gRPC: not found, permission denied, unimplemented. */
const NOTHING_TO_DELETE = new Set<number>([5, 7, 12])
/** `temporal.api.enums.v1.TaskQueueType` */
const TASK_QUEUE_TYPES: Record<TaskKind, number> = { workflows: 1, activities: 2 }

interface OrchestratorOptions {
  address: string
  namespace: string
  /** Called with what went wrong when a call was not acknowledged. */
  onUnreachable?: (error: unknown) => void
  /** Called when workflows of posts start without search attributes, because Temporal does not know these. */
  onUnknownAttributes?: (error: unknown) => void
  /** Called with each workflow that `terminateStuck` ended. */
  onTerminated?: (workflow: StuckWorkflow) => void
}

/** The narrow door to Temporal for routes and activities. Connects when first used and again after an outage. */
export function createOrchestrator({
  address,
  namespace,
  onUnreachable = () => {},
  onUnknownAttributes = () => {},
  onTerminated = () => {},
}: OrchestratorOptions) {
  const connection = Connection.lazy({ address, connectTimeout: CALL_DEADLINE_MS })
  const workflows = new WorkflowClient({ connection, namespace })
  const schedules = new ScheduleClient({ connection, namespace })
  const startTagged = createTaggedStarts(onUnknownAttributes)

  /** The calls that go on, also those that nobody waits for any more: the client repeats them until their deadline. */
  const open = new Set<Promise<unknown>>()

  function bounded<T>(call: () => Promise<T>, deadlineMs = CALL_DEADLINE_MS): Promise<T> {
    const running = connection.withDeadline(Date.now() + deadlineMs, call)
    open.add(running)
    running.finally(() => open.delete(running)).catch(() => {})
    return withTimeout(running, deadlineMs)
  }

  async function acknowledged(call: () => Promise<unknown>, deadlineMs?: number): Promise<boolean> {
    try {
      await bounded(call, deadlineMs)
      return true
    } catch (error) {
      onUnreachable(error)
      return false
    }
  }

  return {
    /**
     * Starts the post's workflow, or joins the one that runs. True when Temporal acknowledged within a second (or there
     * is nothing to deliver); false otherwise, never an error. Where nobody waits for the answer, `deadlineMs` may be longer.
     */
    async start(post: Post, deadlineMs = CALL_DEADLINE_MS): Promise<boolean> {
      const plan = toPublishPlan(post)
      if (!plan) return true
      return acknowledged(
        () =>
          startTagged(attributesOf(post, plan), (tags) =>
            workflows.start('publishPost', { ...startOptions(post, plan), ...tags, args: [plan] }),
          ),
        deadlineMs,
      )
    },

    /** Tells the post's workflow of a change; `retry` and `changed` start it when it does not run. Answers like `start`. */
    async signal(post: Post, signal: PublishSignal): Promise<boolean> {
      const plan = toPublishPlan(post)
      if (signal === 'cancel' || !plan) {
        return acknowledged(async () => {
          try {
            await workflows.getHandle(publishPostWorkflowId(post._id)).signal(PUBLISH_SIGNALS[signal], post.revision)
          } catch (error) {
            if (!(error instanceof WorkflowNotFoundError)) throw error
          }
        })
      }
      const options: WorkflowSignalWithStartOptions<[number]> = {
        ...startOptions(post, plan),
        signal: PUBLISH_SIGNALS[signal],
        signalArgs: [post.revision],
      }
      return acknowledged(() =>
        startTagged(attributesOf(post, plan), (tags) =>
          workflows.signalWithStart('publishPost', { ...options, ...tags, args: [plan] }),
        ),
      )
    },

    /** Starts work in the background for the record of this id, or joins what runs. Answers like `start`. */
    startWork(work: BackgroundWork, id: string, options: WorkOptions): Promise<boolean> {
      return acknowledged(() => workflows.start(work, workOptions(work, id, options)))
    },

    /**
     * The ids of some workflows of posts that are open although their post was due before. Empty, and never an error, when Temporal
     * does not answer or does not know the search attributes.
     */
    async listOverdue(dueBefore: Date, limit: number): Promise<string[]> {
      try {
        return await bounded(() => listOpenPosts(workflows, dueBefore, limit))
      } catch {
        return []
      }
    },

    /**
     * Terminates the workflow of this id if its workflow tasks keep failing, so that the next start begins a new execution instead
     * of joining it. MongoDB decides what was done already, so nothing is done twice. Returns false, and never throws, when the
     * workflow is healthy, is not open, or Temporal does not answer within three seconds.
     */
    async terminateStuck(workflowId: string): Promise<boolean> {
      try {
        const terminated = await bounded(() => terminateIfStuck(workflows, workflowId), TERMINATE_DEADLINE_MS)
        if (terminated) onTerminated(terminated)
        return terminated !== null
      } catch (error) {
        onUnreachable(error)
        return false
      }
    },

    /** Tells the workflow that watches over the user's subscription, and starts it when it does not run. Answers like `start`. */
    tellOfPayment(userId: string, news: PaymentNews): Promise<boolean> {
      const options = workOptions('subscription', userId, { summary: SUBSCRIPTION_SUMMARY, fairnessKey: userId })
      return acknowledged(() =>
        workflows.signalWithStart('subscription', { ...options, signal: paymentEventSignal, signalArgs: [news] }),
      )
    },

    /**
     * Takes the metrics of a post now, or joins the run that does. Returns how that ended, and `unknown`, never an error, when it is
     * not known within the time.
     */
    async refreshMetrics(postId: string, platform: Platform, waitMs: number): Promise<RefreshOutcome> {
      const until = Date.now() + waitMs
      const workflowId = refreshWorkflowId(postId, platform)
      const start = () =>
        workflows.start('refreshMetrics', {
          workflowId,
          taskQueue: 'analytics' satisfies TaskQueue,
          workflowIdConflictPolicy: 'USE_EXISTING',
          workflowIdReusePolicy: 'ALLOW_DUPLICATE',
          workflowRunTimeout: REFRESH_LASTS_MS,
          staticSummary: `Fresh metrics from ${platformLabel(platform)}`,
          args: [postId, platform],
        })
      if (!(await acknowledged(start, waitMs))) return 'unknown'
      try {
        const result = () => workflows.getHandle(workflowId).result() as Promise<boolean>
        return (await bounded(result, Math.max(1, until - Date.now()))) ? 'fresh' : 'failed'
      } catch (error) {
        // That a platform is slow, or refuses, is nothing that Temporal has done.
        return error instanceof WorkflowFailedError ? 'failed' : 'unknown'
      }
    },

    /** Deletes what Temporal keeps of these workflows; those that still run end by it. A server that forbids it keeps ids only. */
    async forget(ids: string[]): Promise<void> {
      await bounded(async () => {
        // The list of all runs is some moments late; the latest run is found without it.
        const runs = ids.map((workflowId) => ({ workflowId, runId: '' }))
        const query = `WorkflowId IN (${ids.map((id) => `'${id}'`).join(', ')})`
        for await (const { workflowId, runId } of workflows.list({ query })) runs.push({ workflowId, runId })
        await Promise.all(runs.map(deleteRun))
      }, FORGET_DEADLINE_MS)
    },

    /** @throws when Temporal does not answer within a second */
    async hasSchedules(): Promise<boolean> {
      return (await bounded(describeSweep)) !== null
    },

    /**
     * Starts the workflow that starts all open posts again, or joins the one that runs.
     * @throws when Temporal does not answer within a second
     */
    async restartPosts(): Promise<void> {
      await bounded(() =>
        workflows.start('restartPosts', {
          workflowId: 'restartPosts',
          taskQueue: 'maintenance' satisfies TaskQueue,
          workflowIdConflictPolicy: 'USE_EXISTING',
          workflowIdReusePolicy: 'ALLOW_DUPLICATE',
          staticSummary: "Start all open posts after the loss of Temporal's data",
          args: [],
        }),
      )
    },

    /** @throws when Temporal does not answer in time, or does not let us create them */
    async ensureSearchAttributes(): Promise<void> {
      await bounded(() => createSearchAttributes(connection, namespace), ATTRIBUTES_DEADLINE_MS)
    },

    /** The Schedules of the service, made or brought up to date. */
    async ensureSchedules(sweepIntervalMs: number, metricsIntervalMs = 15 * MINUTE): Promise<void> {
      await Promise.all(scheduledWorkflows({ sweepIntervalMs, metricsIntervalMs }).map(ensureSchedule))
    },

    /** @throws within 2 s */
    async ping(): Promise<void> {
      await bounded(() => connection.workflowService.getSystemInfo({}), 2 * SECOND)
    },

    /** What stands in the way of a delivery on Temporal's side, as sentences; empty when nothing does. */
    async problems(sweepIntervalMs: number, workerSilenceMs: number): Promise<string[]> {
      try {
        return await bounded(async () => {
          const found = await Promise.all([
            ...TASK_QUEUES.flatMap((queue) =>
              TASKS_OF[queue].map((kind) => pollerProblem(queue, kind, workerSilenceMs)),
            ),
            sweeperProblem(sweepIntervalMs),
          ])
          return found.filter((problem) => problem !== null)
        }, 3 * SECOND)
      } catch {
        return ['Temporal does not answer']
      }
    },

    /** A repeat on a closed connection would end the process, so what is still open ends first; that takes a second or two. */
    async close(): Promise<void> {
      await Promise.allSettled(open)
      await connection.close()
    },
  }

  async function deleteRun(workflowExecution: { workflowId: string; runId: string }): Promise<void> {
    try {
      await connection.workflowService.deleteWorkflowExecution({ namespace, workflowExecution })
    } catch (error) {
      if (!isGrpcServiceError(error) || !NOTHING_TO_DELETE.has(error.code)) throw error
    }
  }

  async function ensureSchedule(workflow: ScheduledWorkflow): Promise<void> {
    const { name, taskQueue = 'maintenance', everyMs, offsetMs = 0, catchUpMs, longestRunMs, summary } = workflow
    const schedule = {
      spec: { intervals: [{ every: everyMs, offset: offsetMs }] },
      policies: { overlap: ScheduleOverlapPolicy.SKIP, catchupWindow: catchUpMs, pauseOnFailure: false },
      action: {
        type: 'startWorkflow' as const,
        workflowType: name,
        workflowId: name,
        taskQueue,
        workflowRunTimeout: longestRunMs,
        args: [],
        staticSummary: summary,
      },
    }
    try {
      await schedules.create({ scheduleId: name, ...schedule })
    } catch (error) {
      if (!(error instanceof ScheduleAlreadyRunning)) throw error
      await schedules.getHandle(name).update((previous) => ({ ...previous, ...schedule }))
    }
  }

  async function pollerProblem(queue: TaskQueue, kind: TaskKind, silenceMs: number): Promise<string | null> {
    const { pollers } = await connection.workflowService.describeTaskQueue({
      namespace,
      taskQueue: { name: queue },
      taskQueueType: TASK_QUEUE_TYPES[kind],
    })
    const newest = Math.max(
      0,
      ...(pollers ?? []).map(({ lastAccessTime }) => Number(lastAccessTime?.seconds ?? 0) * SECOND),
    )
    return Date.now() - newest > silenceMs ? `No worker polls the task queue ${queue} for ${kind}` : null
  }

  /** Null when it does not exist. */
  async function describeSweep(): Promise<ScheduleDescription | null> {
    try {
      return await schedules.getHandle(SWEEP).describe()
    } catch (error) {
      if (error instanceof ScheduleNotFoundError) return null
      throw error
    }
  }

  async function sweeperProblem(sweepIntervalMs: number): Promise<string | null> {
    const schedule = await describeSweep()
    if (!schedule) return 'The sweeper\'s Schedule does not exist, run "npm run setup"'
    const { info } = schedule
    const last = info.recentActions.at(-1)?.takenAt ?? info.createdAt
    return Date.now() - last.getTime() > 3 * sweepIntervalMs + MINUTE ? 'The sweeper has not run' : null
  }
}

export type PublishOrchestrator = ReturnType<typeof createOrchestrator>

async function withTimeout<T>(promise: Promise<T>, deadlineMs: number): Promise<T> {
  let timer: NodeJS.Timeout | undefined
  const deadline = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`no answer within ${deadlineMs} ms`)), deadlineMs)
  })
  try {
    return await Promise.race([promise, deadline])
  } finally {
    clearTimeout(timer)
  }
}
