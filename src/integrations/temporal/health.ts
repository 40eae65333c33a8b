import { optionalTsToMs } from '@temporalio/common/lib/time.js'
import { MINUTE, SECOND } from '../../domain/shared/times.ts'
import { TASK_QUEUES, TASKS_BY_QUEUE, type TaskKind, type TaskQueue } from '../../workflows/contract/task-queues.ts'
import type { TemporalClient } from './client.ts'
import { describeSweep } from './schedules.ts'

const CHECK_DEADLINE_MS = 3 * SECOND

/** `temporal.api.enums.v1.TaskQueueType` */
const TASK_QUEUE_TYPES: Record<TaskKind, number> = { workflows: 1, activities: 2 }

interface Poller {
  /** The process, `<pid>@<host>`. */
  identity: string
  lastAccessAt: Date
}

/** The tasks of one kind in a task queue. */
export interface TaskQueueState {
  queue: TaskQueue
  kind: TaskKind
  /** False when no worker has polled for these tasks within the time that counts as silence. */
  isServed: boolean
  /** Tasks that no worker has taken yet, about. */
  backlog: number
  /** How long the oldest of them has waited. */
  backlogAgeMs: number
  /** The processes that polled in the last minutes, the latest first. */
  pollers: Poller[]
}

/** Checks whether Temporal, the workers and the sweeper can deliver posts. */
export function createHealth({ connection, namespace, schedules, bounded }: TemporalClient) {
  /**
   * Reads the backlog and the pollers of every task queue.
   * @throws when Temporal does not answer within 3 s
   */
  const readQueues = (workerSilenceMs: number): Promise<TaskQueueState[]> => {
    const all = TASK_QUEUES.flatMap((queue) => TASKS_BY_QUEUE[queue].map((kind) => ({ queue, kind })))
    // Each call is bounded by itself: the client waits for all of them before it closes the connection.
    return Promise.all(all.map((tasks) => bounded(() => readQueue(tasks, workerSilenceMs), CHECK_DEADLINE_MS)))
  }

  /** @throws when Temporal does not answer within 3 s */
  const findSweeperProblem = (sweepIntervalMs: number): Promise<string | null> =>
    bounded(() => sweeperProblem(sweepIntervalMs), CHECK_DEADLINE_MS)

  return {
    readQueues,
    findSweeperProblem,

    /** @throws within 2 s */
    async ping(): Promise<void> {
      await bounded(() => connection.workflowService.getSystemInfo({}), 2 * SECOND)
    },

    /** The problems on Temporal's side that prevent deliveries, as sentences; empty when there are none. */
    async findProblems(sweepIntervalMs: number, workerSilenceMs: number): Promise<string[]> {
      try {
        const [queues, sweeper] = await Promise.all([readQueues(workerSilenceMs), findSweeperProblem(sweepIntervalMs)])
        return [...findUnserved(queues), ...(sweeper === null ? [] : [sweeper])]
      } catch {
        return ['Temporal does not answer']
      }
    },
  }

  async function readQueue(
    { queue, kind }: Pick<TaskQueueState, 'queue' | 'kind'>,
    silenceMs: number,
  ): Promise<TaskQueueState> {
    const { pollers, stats } = await connection.workflowService.describeTaskQueue({
      namespace,
      taskQueue: { name: queue },
      taskQueueType: TASK_QUEUE_TYPES[kind],
      reportStats: true,
    })
    const found = (pollers ?? [])
      .map(({ identity, lastAccessTime }) => ({
        identity: identity ?? '',
        lastAccessAt: new Date(optionalTsToMs(lastAccessTime) ?? 0),
      }))
      .toSorted((a, b) => b.lastAccessAt.getTime() - a.lastAccessAt.getTime())
    return {
      queue,
      kind,
      isServed: found[0] !== undefined && Date.now() - found[0].lastAccessAt.getTime() <= silenceMs,
      backlog: Number(stats?.approximateBacklogCount ?? 0),
      backlogAgeMs: optionalTsToMs(stats?.approximateBacklogAge) ?? 0,
      pollers: found,
    }
  }

  async function sweeperProblem(sweepIntervalMs: number): Promise<string | null> {
    const schedule = await describeSweep(schedules)
    if (!schedule) return 'The sweeper\'s Schedule does not exist. Run "npm run setup".'
    const { info } = schedule
    const last = info.recentActions.at(-1)?.takenAt ?? info.createdAt
    return Date.now() - last.getTime() > 3 * sweepIntervalMs + MINUTE ? 'The sweeper has not run' : null
  }
}

/** The task queues without a worker, as sentences. */
export function findUnserved(queues: readonly TaskQueueState[]): string[] {
  return queues
    .filter(({ isServed }) => !isServed)
    .map(({ queue, kind }) => `No worker polls the task queue ${queue} for ${kind}`)
}
