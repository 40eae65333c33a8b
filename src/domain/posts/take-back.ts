import type { Failure } from './failure.ts'
import { failure } from './failure.ts'
import { cancelEdits } from './edit-published.ts'
import { findEntry, isOpenEntry, toCauseFields, updateEntry } from './post-entries.ts'
import type { Move, PlatformStatus } from './post.ts'
import { POSTING_RULES } from './posting-rules.ts'
import { listNamed, scheduleChanges } from './published-changes.ts'
import { platformLabel } from '../shared/platforms.ts'
import { ServiceError } from '../shared/service-error.ts'
import type { Target } from './targets.ts'

/**
 * Returns the ids of what is published of an entry, the last part first: a reply is removed before what it replies to. Comments are removed
 * with their post.
 */
export function listPublishedIds({ platform, platformPostId, parts, comment }: PlatformStatus): string[] {
  const posts = parts?.map((part) => part.platformPostId) ?? (platformPostId === null ? [] : [platformPostId])
  const isReply = comment?.status === 'completed' && POSTING_RULES[platform].thread.firstComment === 'reply'
  return [...posts, ...(isReply ? [comment.platformPostId] : [])].toReversed()
}

/** Returns whether something of the entry is published, as far as is known, and its delivery has ended. */
function canBeTakenBack(entry: PlatformStatus): boolean {
  return entry.status !== 'deleted' && !isOpenEntry(entry) && listPublishedIds(entry).length > 0
}

/**
 * Requests that the platforms remove what is published, which ends the edits that wait. Those that let no program remove posts are marked with what to do by hand.
 * @param accountIds the accounts; absent: all
 * @param requestedBy the id of the user, or of the key after `key:`
 * @throws ServiceError POST_IN_PROGRESS while a named delivery is open, NOTHING_PUBLISHED when there is nothing to remove
 */
export function requestRemoval(requestedBy: string, accountIds?: readonly string[]): Move {
  return (post, now) => {
    const named = listNamed(post, accountIds)
    if (named.some((entry) => isOpenEntry(entry) && post.status === 'PROCESSING')) {
      throw new ServiceError('POST_IN_PROGRESS', 'Post is still being delivered. Take it back once delivery has ended.')
    }
    if (named.length > 0 && named.every(({ status }) => status === 'deleted')) return post
    if (!named.some(canBeTakenBack)) {
      throw new ServiceError('NOTHING_PUBLISHED', 'Nothing of this post is published on the named accounts')
    }
    const platformStatuses = post.platformStatuses.map((entry): PlatformStatus => {
      if (!named.includes(entry) || !canBeTakenBack(entry) || entry.removal?.status === 'pending') return entry
      const requested = { requestedAt: now, requestedBy }
      if (POSTING_RULES[entry.platform].removable) {
        return { ...cancelEdits(entry), removal: { ...requested, status: 'pending' } }
      }
      return { ...entry, removal: { ...requested, status: 'failed', ...toCauseFields(toByHand(entry)) } }
    })
    return scheduleChanges({ ...post, platformStatuses })
  }
}

function toByHand({ platform }: PlatformStatus): Failure {
  const label = platformLabel(platform)
  return failure('PLATFORM_NOT_SUPPORTED', `${label} lets no program delete posts. Delete it in the ${label} app.`)
}

/** Records that a platform has removed everything of an entry. A failed thread can be sent again from its first post. */
export function markRemoved(target: Target): Move {
  return (post, now) => {
    const entry = findEntry(post, target)
    if (entry?.removal?.status !== 'pending') return post
    const { requestedAt, requestedBy } = entry.removal
    const removed = updateEntry(post, target, {
      removal: { status: 'completed', requestedAt, requestedBy, completedAt: now },
      ...(entry.status === 'completed'
        ? { status: 'deleted', metricsDueAt: null }
        : { parts: [], platformPostId: null, platformPostUrl: null }),
    })
    return scheduleChanges(removed)
  }
}

/** Records why a platform does not remove a post. */
export function failRemoval(target: Target, reason: Failure): Move {
  return (post) => {
    const entry = findEntry(post, target)
    if (entry?.removal?.status !== 'pending') return post
    const { requestedAt, requestedBy } = entry.removal
    const removal = { status: 'failed', requestedAt, requestedBy, ...toCauseFields(reason) } as const
    return scheduleChanges(updateEntry(post, target, { removal }))
  }
}
