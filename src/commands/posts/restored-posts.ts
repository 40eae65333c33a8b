import { toFailure } from '../../domain/posts/post-entries.ts'
import { decideHeld, isHeld, markRestored } from '../../domain/posts/restored.ts'
import { toTarget, type Target } from '../../domain/posts/targets.ts'
import type { Platform } from '../../domain/shared/platforms.ts'
import { HOUR } from '../../domain/shared/times.ts'
import type { CommandContext } from '../context.ts'

/** Longer than any lease of an import. */
const LONGEST_LEASE_MS = HOUR
const MAX_IMPORTS = 100_000

/** A delivery that may have been published before a restore; no search has decided it yet. */
export interface HeldDelivery {
  email: string
  postId: string
  target: Target
  platform: Platform
  accountName: string
  dueAt: Date
  /** `deciding` while the worker still searches; afterwards `held`. */
  state: 'deciding' | 'held'
  reason: string
}

/**
 * Marks a restored database before the service starts: what may have been published since the backup is searched for before it is sent.
 * Imports that the backup has as running are paused, because their posts of that time are missing. Can be repeated.
 * @param dumpedAt when the backup began
 */
export async function markRestoredPosts(
  { posts, imports, clock }: CommandContext,
  dumpedAt: Date,
): Promise<{ posts: number; imports: number }> {
  const marked = { posts: 0, imports: 0 }
  for await (const post of posts.streamUnpublished(clock.now())) {
    const { revision } = await posts.transition(post, markRestored(dumpedAt))
    if (revision > post.revision) marked.posts += 1
  }
  const leasedBefore = new Date(clock.now().getTime() + LONGEST_LEASE_MS)
  for (const running of await imports.listUnleased(leasedBefore, MAX_IMPORTS)) {
    if (await imports.changeIf(running, 'applying', { state: 'paused', updatedAt: clock.now() })) marked.imports += 1
  }
  return marked
}

/** Lists the deliveries that an operator may decide about, by their owners. */
export async function* listHeld({ posts, users, clock }: CommandContext): AsyncGenerator<HeldDelivery> {
  for await (const post of posts.streamUnpublished(clock.now())) {
    const held = post.platformStatuses.filter(isHeld)
    if (held.length === 0) continue
    const email = (await users.findById(post.userId))?.email ?? post.userId
    for (const entry of held) {
      const { platform, accountName = '', status } = entry
      yield {
        ...{ email, postId: post._id, target: toTarget(entry), platform, accountName, dueAt: post.dueAt! },
        state: status === 'failed' ? 'held' : 'deciding',
        reason: toFailure(entry)?.message ?? '',
      }
    }
  }
}

/**
 * Publishes or drops held deliveries of a post.
 * @param target the only delivery; absent: all that are held
 * @returns the number of deliveries decided about. The sweeper starts those to publish
 */
export async function decideHeldPost(
  { posts }: CommandContext,
  postId: string,
  decision: 'publish' | 'drop',
  target?: Target,
): Promise<number> {
  const post = await posts.find(postId)
  if (!post) return 0
  let decided = 0
  await posts.transition(post, (current, now) => {
    decided = current.platformStatuses.filter(
      (one) => isHeld(one) && (target ?? toTarget(one)) === toTarget(one),
    ).length
    return decideHeld(decision, target)(current, now)
  })
  return decided
}
