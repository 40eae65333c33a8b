/**
 * `publishing` serves both the publish workflows and their activities, so that Temporal can start an activity with the workflow task that
 * schedules it. Slow work has queues of its own.
 */
export const TASK_QUEUES = [
  'publishing',
  'preparing',
  'notifying',
  'billing',
  'analytics',
  'webhooks',
  'maintenance',
] as const

export type TaskQueue = (typeof TASK_QUEUES)[number]

export type TaskKind = 'workflows' | 'activities'

/** The task kinds of each queue. A queue without a poller for each of them is not served. */
export const TASKS_BY_QUEUE: Record<TaskQueue, TaskKind[]> = {
  publishing: ['workflows', 'activities'],
  preparing: ['activities'],
  notifying: ['workflows', 'activities'],
  billing: ['workflows', 'activities'],
  analytics: ['workflows', 'activities'],
  webhooks: ['workflows', 'activities'],
  maintenance: ['workflows', 'activities'],
}
