import { DAY, HOUR, MINUTE, SECOND } from '../domain/shared/times.ts'
import type { TaskQueue } from './task-queues.ts'

/** A workflow that runs again and again; its Schedule and its runs go by its name. */
export interface ScheduledWorkflow {
  name: string
  /** Without one it is `maintenance`. */
  taskQueue?: TaskQueue
  intervalMs: number
  /** So long after the interval begins. */
  offsetMs?: number
  /** A run that was missed is made up for within this time. */
  catchUpMs: number
  maxRunMs: number
  summary: string
}

export const SWEEP = 'sweep'

/** A run that begins with its slot by Temporal's clock may begin just before it by a worker's, and find nothing due. */
const CLOCKS_DIFFER_MS = 5 * SECOND

interface Intervals {
  sweepIntervalMs: number
  /** The shortest time between two looks at the metrics of a post. */
  metricsIntervalMs: number
}

export function listScheduledWorkflows({ sweepIntervalMs, metricsIntervalMs }: Intervals): ScheduledWorkflow[] {
  return [
    {
      name: SWEEP,
      intervalMs: sweepIntervalMs,
      catchUpMs: MINUTE,
      maxRunMs: 2 * MINUTE,
      summary: 'Take up deliveries that nobody moves on',
    },
    {
      name: 'renewTokens',
      intervalMs: DAY,
      catchUpMs: DAY,
      maxRunMs: 6 * HOUR,
      summary: 'Renew platform tokens before they end',
    },
    {
      name: 'cleanUploads',
      intervalMs: DAY,
      catchUpMs: DAY,
      maxRunMs: 12 * HOUR,
      summary: 'Remove uploads that no post took',
    },
    {
      name: 'reconcileBilling',
      intervalMs: DAY,
      catchUpMs: DAY,
      maxRunMs: 12 * HOUR,
      summary: 'Compare all subscriptions with the payment processor',
    },
    {
      name: 'collectPostMetrics',
      taskQueue: 'analytics',
      intervalMs: metricsIntervalMs,
      offsetMs: CLOCKS_DIFFER_MS,
      catchUpMs: metricsIntervalMs,
      maxRunMs: 6 * HOUR,
      summary: 'Take the metrics of published posts',
    },
    {
      name: 'collectAccountMetrics',
      taskQueue: 'analytics',
      intervalMs: DAY,
      offsetMs: CLOCKS_DIFFER_MS,
      catchUpMs: DAY,
      maxRunMs: 12 * HOUR,
      summary: 'Ask how many follow the connected accounts',
    },
  ]
}
