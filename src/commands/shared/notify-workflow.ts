import type { Post } from '../../domain/posts/post.ts'
import type { CommandContext } from '../context.ts'

/**
 * Signals a stored change to the post's workflow. Never fails and takes about a second at most: the sweeper starts what
 * Temporal did not acknowledge.
 */
export async function notifyWorkflow(deps: CommandContext, post: Post, change: 'retry' | 'changed'): Promise<void> {
  const acknowledged = await deps.orchestrator.signal(post, change)
  if (!acknowledged || !post.startPending) return
  try {
    await deps.posts.acknowledgeStart(post)
  } catch (error) {
    deps.logger.warn({ err: error, postId: post._id }, 'workflow start not recorded')
  }
}
