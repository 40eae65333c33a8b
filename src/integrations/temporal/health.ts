import { MINUTE, SECOND } from '../../domain/shared/times.ts'
import { TASK_QUEUES, TASKS_BY_QUEUE, type TaskKind, type TaskQueue } from '../../workflows/contract/task-queues.ts'
import type { TemporalClient } from './client.ts'
import { describeSweep } from './schedules.ts'

/** `temporal.api.enums.v1.TaskQueueType` */
const TASK_QUEUE_TYPES: Record<TaskKind, number> = { workflows: 1, activities: 2 }

/** Checks whether Temporal, the workers and the sweeper can deliver posts. */
export function createHealth({ connection, namespace, schedules, bounded }: TemporalClient) {
  return {
    /** @throws within 2 s */
    async ping(): Promise<void> {
      await bounded(() => connection.workflowService.getSystemInfo({}), 2 * SECOND)
    },

    /** The problems on Temporal's side that prevent deliveries, as sentences; empty when there are none. */
    async findProblems(sweepIntervalMs: number, workerSilenceMs: number): Promise<string[]> {
      try {
        return await bounded(async () => {
          const found = await Promise.all([
            ...TASK_QUEUES.flatMap((queue) =>
              TASKS_BY_QUEUE[queue].map((kind) => pollerProblem(queue, kind, workerSilenceMs)),
            ),
            sweeperProblem(sweepIntervalMs),
          ])
          return found.filter((problem) => problem !== null)
        }, 3 * SECOND)
      } catch {
        return ['Temporal does not answer']
      }
    },
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

  async function sweeperProblem(sweepIntervalMs: number): Promise<string | null> {
    const schedule = await describeSweep(schedules)
    if (!schedule) return 'The sweeper\'s Schedule does not exist. Run "npm run setup".'
    const { info } = schedule
    const last = info.recentActions.at(-1)?.takenAt ?? info.createdAt
    return Date.now() - last.getTime() > 3 * sweepIntervalMs + MINUTE ? 'The sweeper has not run' : null
  }
}
