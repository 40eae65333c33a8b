import { defineSignal } from '@temporalio/workflow'
import type { Failure } from '../domain/posts/failure.ts'
import type { Platform } from '../domain/shared/platforms.ts'
import type { PublishPlan } from '../domain/posts/publish-plan.ts'
import type { PostStatus } from '../domain/posts/post.ts'
import { MINUTE } from '../domain/shared/times.ts'
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
  /** Why a delivery failed, with the platform's words where it said any; never the user's. */
  failure?: Pick<Failure, 'code' | 'message'>
}

export interface PlatformResult extends Pick<DeliveryResult, 'failure'> {
  platform: Platform
  outcome: 'completed' | 'failed'
}

/**
 * What a workflow returns: how the post ended, and each platform whose delivery ended in this run. Ids of published posts are left to the
 * record: some contain the id of the user's account, which histories must not keep.
 */
export interface PublishPostResult {
  status: PostState['status']
  platforms: PlatformResult[]
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

/** A place in the listing of posts whose metrics are due: an age class after the other, and in each an owner after the other. */
export interface DuePlace {
  ageClass: number
  /** That of the youngest posts when their listing began, epoch milliseconds. */
  youngestSlot: number
  /** The listing of each age begins after this owner, and comes round to them. */
  startUserId: string | null
  isRound: boolean
  /** The last owner whose posts were all listed. */
  afterUserId: string | null
  /** One whose posts are still being listed, by their ids. */
  within: { userId: string; afterPostId: string | null } | null
}

/** The posts of an account whose metrics are due, in batches of one activity each. */
export interface DueAccount {
  userId: string
  platform: Platform
  batches: string[][]
}

export interface DuePage {
  accounts: DueAccount[]
  /** Epoch milliseconds. */
  slot: number
  /** Where the next page begins; null when there is none. */
  next: DuePlace | null
}

/** What one call asks for: the metrics of some posts of one account. */
export interface DueBatch {
  userId: string
  platform: Platform
  postIds: string[]
  /** Epoch milliseconds. */
  slot: number
}

/** What became of the posts of a batch. */
export interface CollectedPosts {
  saved: number
  deleted: number
  skipped: number
  failed: number
}

export interface CollectedBatch extends CollectedPosts {
  /** After which the rest of the account, or of the platform for a while, comes to nothing. */
  end: 'done' | 'account' | 'platform'
  pauseMs?: number
}

/** Platforms that are left alone until then, epoch milliseconds. */
export type Pauses = Partial<Record<Platform, number>>

/** What became of a page of accounts; `next` names its last user, null when there are no more. */
export interface FollowersPage {
  next: string | null
  pauses: Pauses
  taken: number
  skipped: number
  failed: number
  /** Not asked for, since the platform has to be left alone. */
  paused: number
}

/** How a refresh of metrics ended. `unknown`: it may still run, or may never have started. */
export type RefreshOutcome = 'fresh' | 'failed' | 'unknown'

/** No refresh runs for longer than this after it was asked for. */
export const REFRESH_LASTS_MS = 2 * MINUTE

export function refreshWorkflowId(postId: string, platform: Platform): string {
  return `analytics-refresh/${postId}/${platform}`
}

/** Names one connection of an account: a new login has another version. */
export function toConnectionId(userId: string, platform: Platform, version: number): string {
  return `${userId}/${platform}/${version}`
}

export function parseConnectionId(connectionId: string): { userId: string; platform: Platform } {
  const [userId, platform] = connectionId.split('/') as [string, Platform]
  return { userId, platform }
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
  collectFollowers: { idPrefix: 'followers/', taskQueue: 'analytics' },
  replayDeadLetter: { idPrefix: 'dead-letter/', taskQueue: 'analytics' },
} as const satisfies Record<string, { idPrefix: string; taskQueue: TaskQueue }>

export type BackgroundWork = keyof typeof BACKGROUND_WORK

export function backgroundWorkflowId(work: BackgroundWork, id: string): string {
  return `${BACKGROUND_WORK[work].idPrefix}${id}`
}
