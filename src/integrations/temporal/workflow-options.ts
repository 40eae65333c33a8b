import { platformLabel } from '../../domain/shared/platforms.ts'
import type { Post } from '../../domain/posts/post.ts'
import type { PublishPlan } from '../../domain/posts/publish-plan.ts'
import { BACKGROUND_WORK, backgroundWorkflowId, type BackgroundWork } from '../../workflows/contract/background-work.ts'
import { publishPostWorkflowId } from '../../workflows/contract/publishing.ts'
import type { TaskQueue } from '../../workflows/contract/task-queues.ts'

export interface WorkOptions {
  /** Shown to operators; contains no personal data. */
  summary: string
  /** The user whose work it is. On servers with fairness, one user's burst does not delay others. */
  fairnessKey: string
}

/**
 * Start options of a post's workflow; a running one is joined and keeps its own.
 * @param fairnessWeight the share of the user's posts while other users wait
 */
export function toStartOptions(post: Post, plan: PublishPlan, fairnessWeight = 1) {
  const names = plan.platforms.map(({ platform }) => platformLabel(platform)).join(', ')
  return {
    workflowId: publishPostWorkflowId(post._id),
    taskQueue: 'publishing' satisfies TaskQueue,
    workflowIdConflictPolicy: 'USE_EXISTING' as const,
    workflowIdReusePolicy: 'ALLOW_DUPLICATE' as const,
    staticSummary: post.scheduledAt
      ? `${names}, scheduled for ${post.scheduledAt.toISOString()}`
      : `${names}, immediately`,
    // On servers with fairness, one user's burst does not delay others.
    priority: { fairnessKey: post.userId, fairnessWeight, priorityKey: post.scheduledAt ? 3 : 2 },
  }
}

/** Start options of background work; a running workflow is joined. */
export function toWorkOptions(work: BackgroundWork, id: string, { summary, fairnessKey }: WorkOptions) {
  return {
    workflowId: backgroundWorkflowId(work, id),
    taskQueue: BACKGROUND_WORK[work].taskQueue,
    workflowIdConflictPolicy: 'USE_EXISTING' as const,
    workflowIdReusePolicy: 'ALLOW_DUPLICATE' as const,
    staticSummary: summary,
    priority: { fairnessKey },
    args: 'takesOwner' in BACKGROUND_WORK[work] ? [id, fairnessKey] : [id],
  }
}
