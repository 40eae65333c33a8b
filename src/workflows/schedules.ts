import { DAY, HOUR, MINUTE } from '../domain/times.ts'

/** A workflow of the `maintenance` queue that runs again and again; its Schedule and its runs go by its name. */
export interface ScheduledWorkflow {
  name: string
  everyMs: number
  /** A run that was missed is made up for within this time. */
  catchUpMs: number
  longestRunMs: number
  summary: string
}

export const SWEEP = 'sweep'

export function scheduledWorkflows({ sweepIntervalMs }: { sweepIntervalMs: number }): ScheduledWorkflow[] {
  return [
    {
      name: SWEEP,
      everyMs: sweepIntervalMs,
      catchUpMs: MINUTE,
      longestRunMs: 2 * MINUTE,
      summary: 'Take up deliveries that nobody moves on',
    },
    {
      name: 'renewTokens',
      everyMs: DAY,
      catchUpMs: DAY,
      longestRunMs: 6 * HOUR,
      summary: 'Renew platform tokens before they end',
    },
    {
      name: 'cleanUploads',
      everyMs: DAY,
      catchUpMs: DAY,
      longestRunMs: 12 * HOUR,
      summary: 'Remove uploads that no post took',
    },
    {
      name: 'reconcileBilling',
      everyMs: DAY,
      catchUpMs: DAY,
      longestRunMs: 12 * HOUR,
      summary: 'Compare all subscriptions with the payment processor',
    },
  ]
}
