import { DAY, HOUR, MINUTE, SECOND } from '../../domain/shared/times.ts'
import type { TaskQueue } from './task-queues.ts'

/** A workflow that a Schedule of the same name runs. */
export interface ScheduledWorkflow {
  name: string
  /** `maintenance` by default. */
  taskQueue?: TaskQueue
  intervalMs: number
  /** The delay after the start of each interval. */
  offsetMs?: number
  /** A missed run is started within this time. */
  catchUpMs: number
  maxRunMs: number
  summary: string
}

export const SWEEP = 'sweep'

/** Clocks differ: a run that starts with its slot by Temporal's clock may find nothing due by the worker's clock. */
const CLOCK_SKEW_MS = 5 * SECOND

interface Intervals {
  sweepIntervalMs: number
  /** The shortest interval between two collections of a post's metrics. */
  metricsIntervalMs: number
}

export function listScheduledWorkflows({ sweepIntervalMs, metricsIntervalMs }: Intervals): ScheduledWorkflow[] {
  return [
    {
      name: SWEEP,
      intervalMs: sweepIntervalMs,
      catchUpMs: MINUTE,
      maxRunMs: 2 * MINUTE,
      summary: 'Restart posts and background work without a running workflow',
    },
    {
      name: 'checkDuePosts',
      intervalMs: MINUTE,
      catchUpMs: MINUTE,
      maxRunMs: 5 * MINUTE,
      summary: 'Check scheduled posts again shortly before they are due',
    },
    {
      name: 'renewTokens',
      intervalMs: DAY,
      catchUpMs: DAY,
      maxRunMs: 6 * HOUR,
      summary: 'Renew platform tokens before they expire',
    },
    {
      name: 'cleanUploads',
      intervalMs: DAY,
      catchUpMs: DAY,
      maxRunMs: 12 * HOUR,
      summary: 'Remove unused uploads',
    },
    {
      name: 'reconcileBilling',
      intervalMs: DAY,
      catchUpMs: DAY,
      maxRunMs: 12 * HOUR,
      summary: 'Reconcile all subscriptions with the payment processor',
    },
    {
      name: 'collectPostMetrics',
      taskQueue: 'analytics',
      intervalMs: metricsIntervalMs,
      offsetMs: CLOCK_SKEW_MS,
      catchUpMs: metricsIntervalMs,
      maxRunMs: 6 * HOUR,
      summary: 'Collect the metrics of published posts',
    },
    {
      name: 'collectAccountMetrics',
      taskQueue: 'analytics',
      intervalMs: DAY,
      offsetMs: CLOCK_SKEW_MS,
      catchUpMs: DAY,
      maxRunMs: 12 * HOUR,
      summary: 'Collect the follower counts of connected accounts',
    },
    {
      name: 'downsampleSnapshots',
      intervalMs: DAY,
      catchUpMs: DAY,
      maxRunMs: 12 * HOUR,
      summary: 'Reduce old snapshots to one per week',
    },
  ]
}
