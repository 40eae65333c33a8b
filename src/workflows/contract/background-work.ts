import { WAKE_SIGNAL } from './rounds.ts'
import type { TaskQueue } from './task-queues.ts'

/**
 * Background work that a stored record needs. The workflow of this name gets the record's id, and with `takesOwner` its user, as arguments.
 * Its workflow id contains the record's id, so that only one runs.
 */
export const BACKGROUND_WORK = {
  sendMail: { idPrefix: 'mail/', taskQueue: 'notifying' },
  deliverPush: { idPrefix: 'push/', taskQueue: 'notifying', takesOwner: true },
  subscription: { idPrefix: 'subscription/', taskQueue: 'billing' },
  routePaymentEvent: { idPrefix: 'payment-event/', taskQueue: 'billing' },
  eraseAccount: { idPrefix: 'erase/', taskQueue: 'maintenance' },
  applyImport: { idPrefix: 'apply-import/', taskQueue: 'maintenance', takesOwner: true },
  changePublished: {
    ...{ idPrefix: 'change-published/', taskQueue: 'maintenance', takesOwner: true, signal: WAKE_SIGNAL },
  },
  collectFollowers: { idPrefix: 'followers/', taskQueue: 'analytics' },
  replayDeadLetter: { idPrefix: 'dead-letter/', taskQueue: 'analytics' },
  deliverWebhooks: { idPrefix: 'deliver-webhooks/', taskQueue: 'webhooks', takesOwner: true, signal: WAKE_SIGNAL },
} as const satisfies Record<string, Work>

interface Work {
  idPrefix: string
  taskQueue: TaskQueue
  takesOwner?: true
  /** The signal that makes a running workflow read its records again. */
  signal?: string
}

export type BackgroundWork = keyof typeof BACKGROUND_WORK

export function backgroundWorkflowId(work: BackgroundWork, id: string): string {
  return `${BACKGROUND_WORK[work].idPrefix}${id}`
}
