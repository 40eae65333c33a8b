import { activityInfo } from '@temporalio/activity'
import { failure } from '../../domain/posts/failure.ts'
import { postEnded, postFailed } from '../../domain/notifications/notifications.ts'
import { giveUp } from '../../domain/posts/delivery-moves.ts'
import { findEntry, toFailure } from '../../domain/posts/post-entries.ts'
import { cancel } from '../../domain/posts/post-moves.ts'
import { toPublishPlan } from '../../domain/posts/publish-plan.ts'
import type { DiscardPrepared } from '../../commands/posts/discard-prepared.ts'
import { ServiceError } from '../../domain/shared/service-error.ts'
import type { Metrics } from '../../telemetry/metrics.ts'
import type { NotificationStore } from '../../store/notifications/notifications.ts'
import type { PostStore } from '../../store/posts/posts.ts'
import type { DeliveryInput, DeliveryResult, PostState } from '../../workflows/messages.ts'
import { resultOf } from './record-outcome.ts'

export interface RecordDeps {
  posts: PostStore
  notifications: NotificationStore
  metrics: Pick<Metrics, 'deliveryRecorded'>
  discardPrepared: DiscardPrepared
}

/** Short reads and writes that workflows make as local activities; each may be repeated. */
export function createRecordActivities({ posts, notifications, metrics, discardPrepared }: RecordDeps) {
  return {
    async readPost(postId: string): Promise<PostState> {
      const post = await posts.find(postId)
      return post ? { status: post.status, plan: toPublishPlan(post) } : { status: 'DELETED', plan: null }
    },

    /** Temporal's own cancel: the same move as the route's, and like there a post that was claimed goes on. */
    async cancelPost(postId: string): Promise<void> {
      try {
        const post = await posts.transition(postId, cancel(), byThisRun())
        void discardPrepared(post, post.platformStatuses)
      } catch (error) {
        if (!(error instanceof ServiceError && error.code === 'NOT_FOUND')) throw error
      }
    },

    /** The delivery activity is lost for good: its round must not stay open. */
    async giveUpDelivery({ postId, platform, round }: DeliveryInput): Promise<DeliveryResult> {
      const post = await posts.find(postId)
      if (!post) return { outcome: 'void', status: 'DELETED', revision: 0 }
      const reason = failure('INTERNAL', 'The delivery was lost inside the service')
      const left = await posts.transition(postId, giveUp(platform, reason, round), byThisRun())
      const entry = findEntry(left, platform)
      if (entry?.status === 'failed' && entry.delivery.round === round) {
        metrics.deliveryRecorded(platform, 'failed', entry.errorCode)
        await notifications.insertOnce(postFailed(left, platform, round, toFailure(entry) ?? reason))
        const ending = postEnded(left)
        if (ending) await notifications.insertOnce(ending)
      }
      return resultOf(left, platform, entry?.status === 'completed' ? 'completed' : 'failed')
    },
  }
}

function byThisRun(): { runId?: string } {
  const runId = activityInfo().workflowExecution?.runId
  return runId === undefined ? {} : { runId }
}
