import { defineSignal } from '@temporalio/workflow'
import type { Failure } from '../../domain/posts/failure.ts'
import type { PublishPlan } from '../../domain/posts/publish-plan.ts'
import type { PostStatus } from '../../domain/posts/post.ts'
import type { Platform } from '../../domain/shared/platforms.ts'

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
