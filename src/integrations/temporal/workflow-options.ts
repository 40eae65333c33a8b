import { platformLabel } from '../../domain/shared/platforms.ts'
import type { Post } from '../../domain/posts/post.ts'
import type { PublishPlan } from '../../domain/posts/publish-plan.ts'
import {
  BACKGROUND_WORK,
  backgroundWorkflowId,
  publishPostWorkflowId,
  type BackgroundWork,
} from '../../workflows/messages.ts'
import type { TaskQueue } from '../../workflows/task-queues.ts'

export interface WorkOptions {
  /** For operators, without anything personal. */
  summary: string
  /** The user whose work it is: one user's burst does not delay the others, where the server has fairness on. */
  fairnessKey: string
}

/** How the workflow of a post is started: one that runs is joined. */
export function toStartOptions(post: Post, plan: PublishPlan) {
  const names = plan.platforms.map(({ platform }) => platformLabel(platform)).join(', ')
  return {
    workflowId: publishPostWorkflowId(post._id),
    taskQueue: 'publishing' satisfies TaskQueue,
    workflowIdConflictPolicy: 'USE_EXISTING' as const,
    workflowIdReusePolicy: 'ALLOW_DUPLICATE' as const,
    staticSummary: post.scheduledAt ? `${names}, scheduled for ${post.scheduledAt.toISOString()}` : `${names}, at once`,
    // One user's burst does not delay the others, where the server has fairness on.
    priority: { fairnessKey: post.userId, priorityKey: post.scheduledAt ? 3 : 2 },
  }
}

/** How work in the background is started: what runs already is joined. */
export function toWorkOptions(work: BackgroundWork, id: string, { summary, fairnessKey }: WorkOptions) {
  return {
    workflowId: backgroundWorkflowId(work, id),
    taskQueue: BACKGROUND_WORK[work].taskQueue,
    workflowIdConflictPolicy: 'USE_EXISTING' as const,
    workflowIdReusePolicy: 'ALLOW_DUPLICATE' as const,
    staticSummary: summary,
    priority: { fairnessKey },
    args: [id],
  }
}
