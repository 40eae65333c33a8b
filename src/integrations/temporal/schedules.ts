import {
  ScheduleAlreadyRunning,
  ScheduleNotFoundError,
  ScheduleOverlapPolicy,
  ServiceError,
  type ScheduleDescription,
} from '@temporalio/client'
import { MINUTE, SECOND } from '../../domain/shared/times.ts'
import { listScheduledWorkflows, SWEEP, type ScheduledWorkflow } from '../../workflows/contract/schedules.ts'
import type { TemporalClient } from './client.ts'
import { createSearchAttributes } from './search-attributes.ts'

const ATTRIBUTES_DEADLINE_MS = 10 * SECOND
/** Each try ends with the client's own deadline. */
const UPDATE_TRIES = 3

/** Creates and reads the service's Schedules and search attributes. */
export function createSchedules({ connection, namespace, schedules, bounded }: TemporalClient) {
  return {
    /** @throws when Temporal does not answer within a second */
    async hasSchedules(): Promise<boolean> {
      return (await bounded(() => describeSweep(schedules))) !== null
    },

    /** Creates the service's Schedules, or updates them. */
    async ensureSchedules(sweepIntervalMs: number, metricsIntervalMs = 15 * MINUTE): Promise<void> {
      await Promise.all(listScheduledWorkflows({ sweepIntervalMs, metricsIntervalMs }).map(ensureSchedule))
    },

    /** @throws when Temporal does not answer in time, or does not permit creating them */
    async ensureSearchAttributes(): Promise<void> {
      await bounded(() => createSearchAttributes(connection, namespace), ATTRIBUTES_DEADLINE_MS)
    },
  }

  async function ensureSchedule(workflow: ScheduledWorkflow): Promise<void> {
    const { name, taskQueue = 'maintenance', intervalMs, offsetMs = 0, catchUpMs, maxRunMs, summary } = workflow
    const schedule = {
      spec: { intervals: [{ every: intervalMs, offset: offsetMs }] },
      policies: { overlap: ScheduleOverlapPolicy.SKIP, catchupWindow: catchUpMs, pauseOnFailure: false },
      action: {
        type: 'startWorkflow' as const,
        workflowType: name,
        workflowId: name,
        taskQueue,
        workflowRunTimeout: maxRunMs,
        args: [],
        staticSummary: summary,
      },
    }
    try {
      await schedules.create({ scheduleId: name, ...schedule })
    } catch (error) {
      if (!(error instanceof ScheduleAlreadyRunning)) throw error
      await repeated(() => schedules.getHandle(name).update((previous) => ({ ...previous, ...schedule })))
    }
  }
}

/** Repeats a call that Temporal did not answer: for a while after its start it may not answer questions about Schedules. */
async function repeated(call: () => Promise<void>): Promise<void> {
  for (let tries = 1; ; tries++) {
    try {
      return await call()
    } catch (error) {
      if (!(error instanceof ServiceError) || tries === UPDATE_TRIES) throw error
    }
  }
}

/** The sweeper's Schedule; null when it does not exist. */
export async function describeSweep(schedules: TemporalClient['schedules']): Promise<ScheduleDescription | null> {
  try {
    return await schedules.getHandle(SWEEP).describe()
  } catch (error) {
    if (error instanceof ScheduleNotFoundError) return null
    throw error
  }
}
