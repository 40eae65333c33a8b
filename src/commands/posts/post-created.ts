import { postCreated, type NewNotification } from '../../domain/notifications/notifications.ts'
import type { Post } from '../../domain/posts/post.ts'
import type { UserStore } from '../../store/users/users.ts'

/** Returns the notifications of new posts, with times in the time zones of their users. Drafts cause none. */
export async function buildCreatedNotifications(
  { users }: { users: UserStore },
  posts: Post[],
): Promise<NewNotification[]> {
  const scheduled = new Set(posts.filter(({ status }) => status === 'SCHEDULED').map(({ userId }) => userId))
  const timezones = scheduled.size > 0 ? await users.findTimezones([...scheduled]) : new Map<string, string>()
  return posts
    .filter(({ status }) => status !== 'DRAFT')
    .map((post) => postCreated(post, timezones.get(post.userId) ?? post.timezone))
}
