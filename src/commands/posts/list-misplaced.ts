import { findMisplaced, type DescribedTarget } from '../../domain/posts/targets.ts'
import type { Platform } from '../../domain/shared/platforms.ts'
import type { CommandContext } from '../context.ts'

/** A post that was published on another account than the one it was created for. */
export interface MisplacedPost {
  email: string
  postId: string
  platform: Platform
  createdFor: string
  publishedOn: string
  url: string
}

/**
 * Compares the accounts of all published posts with those that the feed names for their creation. Posts that their users moved are among
 * them, and posts whose creation has left the feed are not.
 */
export async function* listMisplaced({ users, events, posts }: CommandContext): AsyncGenerator<MisplacedPost> {
  for await (const { _id: userId, email } of users.all()) {
    const created = new Map<unknown, DescribedTarget[]>()
    for await (const { type, data } of events.allOf(userId)) {
      if (type === 'post.created') created.set(data['postId'], data['deliveries'] as DescribedTarget[])
    }
    if (created.size === 0) continue
    for await (const { _id: postId, platformStatuses } of posts.allOf(userId)) {
      for (const { entry, createdFor } of findMisplaced(created.get(postId) ?? [], platformStatuses)) {
        const { platform, accountId, accountName, platformPostUrl } = entry
        yield {
          ...{ email, postId, platform, url: platformPostUrl ?? '' },
          createdFor: createdFor.accountName ?? createdFor.accountId!,
          publishedOn: accountName ?? accountId!,
        }
      }
    }
  }
}
