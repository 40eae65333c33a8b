/**
 * `publishing` holds the publish workflows and their activities together, so that the server can hand an activity over
 * with the workflow task that asks for it. What may be slow has queues of its own.
 */
export const TASK_QUEUES = ['publishing', 'preparing', 'notifying', 'billing', 'analytics', 'maintenance'] as const

export type TaskQueue = (typeof TASK_QUEUES)[number]

export type TaskKind = 'workflows' | 'activities'

/** What is asked for on each queue: a queue without a poller for one of these is not served. */
export const TASKS_BY_QUEUE: Record<TaskQueue, TaskKind[]> = {
  publishing: ['workflows', 'activities'],
  preparing: ['activities'],
  notifying: ['workflows', 'activities'],
  billing: ['workflows', 'activities'],
  analytics: ['workflows', 'activities'],
  maintenance: ['workflows', 'activities'],
}
