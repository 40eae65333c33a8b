import { activityInfo } from '@temporalio/activity'
import { failure } from '../../domain/posts/failure.ts'
import { giveUp } from '../../domain/posts/delivery-moves.ts'
import { findEntry } from '../../domain/posts/post-entries.ts'
import { cancel } from '../../domain/posts/post-moves.ts'
import { toPublishPlan } from '../../domain/posts/publish-plan.ts'
import { toTarget } from '../../domain/posts/targets.ts'
import type { DeliveryInput, DeliveryResult, PostState } from '../../workflows/contract/publishing.ts'
import { isPostDeleted, toDeliveryResult } from './record-outcome.ts'
import type { Context } from '../../context.ts'

/** Short reads and writes of posts, which workflows run as local activities. Each may be repeated. */
export function createPostActivities({ posts, metrics, discardPrepared }: Context) {
  return {
    async readPost(postId: string, userId: string): Promise<PostState> {
      const post = await posts.find(postId, userId)
      return post ? { status: post.status, plan: toPublishPlan(post) } : { status: 'DELETED', plan: null }
    },

    /** Handles a cancel in Temporal like the cancel route: a post that is already claimed is published all the same. */
    async cancelPost(postId: string, userId: string): Promise<void> {
      try {
        const post = await posts.transition({ _id: postId, userId }, cancel(), getRun())
        void discardPrepared(post, post.platformStatuses)
      } catch (error) {
        if (!isPostDeleted(error)) throw error
      }
    },

    /** Ends the round of a delivery whose activity has failed permanently. */
    async giveUpDelivery(input: DeliveryInput): Promise<DeliveryResult> {
      const { postId, userId, platform, round } = input
      const target = toTarget(input)
      const post = await posts.find(postId, userId)
      if (!post) return { outcome: 'nothing-to-do', status: 'DELETED', revision: 0 }
      const reason = failure('INTERNAL', 'The delivery was lost inside the service')
      const moved = await posts.transition(post, giveUp(target, reason, round), getRun())
      const entry = findEntry(moved, target)
      if (entry?.status === 'failed' && entry.delivery.round === round) {
        metrics.deliveryRecorded(platform, 'failed', entry.errorCode)
      }
      return toDeliveryResult(moved, input, entry?.status === 'completed' ? 'completed' : 'failed')
    },
  }
}

function getRun(): { runId?: string } {
  const runId = activityInfo().workflowExecution?.runId
  return runId === undefined ? {} : { runId }
}
