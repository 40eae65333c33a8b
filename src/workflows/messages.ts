import { defineSignal } from '@temporalio/workflow'
import type { Platform } from '../domain/platforms.ts'
import type { PublishPlan } from '../domain/publish-plan.ts'
import type { PostStatus } from '../domain/post.ts'
import type { TaskQueue } from './task-queues.ts'

/** One workflow a post; its id is the lock that keeps it single. */
export function publishPostWorkflowId(postId: string): string {
  return `publish-post/${postId}`
}

/** Every signal carries the post's revision after the change it tells of; the workflow then reads the post again. */
export const cancelSignal = defineSignal<[number]>('cancel')
export const retrySignal = defineSignal<[number]>('retry')
export const changedSignal = defineSignal<[number]>('changed')

export const PUBLISH_SIGNALS = { cancel: cancelSignal, retry: retrySignal, changed: changedSignal }

export type PublishSignal = keyof typeof PUBLISH_SIGNALS

/** Input of `publishPost`. */
export type PublishPostInput = PublishPlan

/** Input of the activities that work on one platform of a post, in one round. */
export interface DeliveryInput {
  postId: string
  platform: Platform
  round: number
}

/**
 * How an attempt ended, with the post as it was left. `again`: the post's time or content changed under it, look at the
 * post and arm once more; `void`: there was nothing (left) to do for it.
 */
export interface DeliveryResult {
  outcome: 'completed' | 'failed' | 'again' | 'void'
  status: PostState['status']
  revision: number
}

/** What a workflow reads of a post. `plan` is null when nothing is left to deliver; a deleted post has no status. */
export interface PostState {
  status: PostStatus | 'DELETED'
  plan: PublishPlan | null
}

/** A place in the listing of a folder of object storage. */
export interface FolderPlace {
  folder: string
  /** The last key that was looked at; null at the beginning. */
  after: string | null
}

/** What a clean-up did. */
export interface CleanedFolders {
  /** Uploads that no post took: out of sight, and gone for good a day later. */
  removed: number
  /** Those among them that a post names after all. */
  restored: number
  /** Gone for good, converted copies among them. */
  deleted: number
}

/** Names an event of the payment processor; what it says is on record. */
export interface PaymentNews {
  eventId: string
  type: string
}

/** For operators, in the Temporal UI. */
export const SUBSCRIPTION_SUMMARY = "Watch over a user's subscription"

/** To the workflow `subscription`. */
export const paymentEventSignal = defineSignal<[PaymentNews]>('paymentEvent')

/** What the workflow `subscription` is told of a user's subscription. */
export interface SubscriptionState {
  /** There is one to watch. */
  isLive: boolean
  /** Epoch milliseconds. */
  periodEndsAt: number | null
  /** Plan and status. */
  standing: string
  /** What the last look changed. */
  change: string
}

/** A place in the listing of those who pay, or may have paid. */
export interface BilledPlace {
  by: 'subscription' | 'checkout'
  /** The last one that was looked at; empty at the beginning. */
  after: string
}

/**
 * Work in the background that a stored record asks for: the workflow of this name gets the record's id as its only argument, and
 * runs under that id, so that it is single.
 */
export const BACKGROUND_WORK = {
  sendMail: { idPrefix: 'mail/', taskQueue: 'notifying' },
  deliverPush: { idPrefix: 'push/', taskQueue: 'notifying' },
  subscription: { idPrefix: 'subscription/', taskQueue: 'billing' },
  routePaymentEvent: { idPrefix: 'payment-event/', taskQueue: 'billing' },
  eraseAccount: { idPrefix: 'erase/', taskQueue: 'maintenance' },
} as const satisfies Record<string, { idPrefix: string; taskQueue: TaskQueue }>

export type BackgroundWork = keyof typeof BACKGROUND_WORK

export function backgroundWorkflowId(work: BackgroundWork, id: string): string {
  return `${BACKGROUND_WORK[work].idPrefix}${id}`
}
