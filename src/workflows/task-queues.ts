/**
 * `publishing` holds the publish workflows and their activities together, so that the server can hand an activity over
 * with the workflow task that asks for it. What may be slow has queues of its own.
 */
export const TASK_QUEUES = ['publishing', 'preparing', 'maintenance'] as const

export type TaskQueue = (typeof TASK_QUEUES)[number]
