import { defineSignal } from '@temporalio/workflow'
import type { Failure } from '../../domain/posts/failure.ts'
import type { PublishPlan } from '../../domain/posts/publish-plan.ts'
import type { PostStatus } from '../../domain/posts/post.ts'
import type { Platform } from '../../domain/shared/platforms.ts'

/** A post has one workflow, because Temporal runs only one with the same id. */
export function publishPostWorkflowId(postId: string): string {
  return `publish-post/${postId}`
}

/** Every signal carries the revision of the post after the change. The workflow then reads the post again. */
export const cancelSignal = defineSignal<[number]>('cancel')
export const retrySignal = defineSignal<[number]>('retry')
export const changedSignal = defineSignal<[number]>('changed')

export const PUBLISH_SIGNALS = { cancel: cancelSignal, retry: retrySignal, changed: changedSignal }

export type PublishSignal = keyof typeof PUBLISH_SIGNALS

/** Input of `publishPost`. */
export type PublishPostInput = PublishPlan

/** The input of activities for one entry of a post, in one round. */
export interface DeliveryInput {
  postId: string
  userId: string
  platform: Platform
  /** The account that the user chose; absent for the default account of the platform. */
  target?: string
  round: number
}

/**
 * The result of a delivery activity, with the status and revision of the post at its end. `superseded`: the post changed meanwhile, so
 * the workflow has to read it again. `nothing-to-do`: the delivery is over, or its post is deleted.
 */
export interface DeliveryResult {
  outcome: 'completed' | 'failed' | 'superseded' | 'nothing-to-do'
  status: PostState['status']
  revision: number
  /** Why the delivery failed, with the platform's error text if there is one. It never contains text of the user. */
  failure?: Pick<Failure, 'code' | 'message'>
}

export interface PlatformResult extends Pick<DeliveryResult, 'failure'> {
  platform: Platform
  target?: string
  outcome: 'completed' | 'failed'
}

/**
 * The result of `publishPost`: the status of the post, and each platform whose delivery ended in this run. It has no platform post ids,
 * because some contain the user's account id, which histories must not store.
 */
export interface PublishPostResult {
  status: PostState['status']
  platforms: PlatformResult[]
}

/** What a workflow needs from a post. `plan` is null when nothing is left to publish. */
export interface PostState {
  status: PostStatus | 'DELETED'
  plan: PublishPlan | null
}

/** The last post of a page of posts that are checked before they are due. */
export interface UncheckedCursor {
  /** Epoch milliseconds. */
  dueAt: number
  postId: string
}

/** The numbers of checked posts and of new warnings. */
export interface CheckedPosts {
  checked: number
  warned: number
}

export interface UncheckedPage extends CheckedPosts {
  /** Null on the last page. */
  next: UncheckedCursor | null
}
