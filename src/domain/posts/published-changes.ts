import type { Move, PlatformStatus, Post, PublishedChange } from './post.ts'
import { MINUTE } from '../shared/times.ts'

/** Returns the entries of the named accounts, or all. */
export function listNamed({ platformStatuses }: Post, accountIds?: readonly string[]): PlatformStatus[] {
  return platformStatuses.filter(
    ({ accountId }) => !accountIds || (accountId !== undefined && accountIds.includes(accountId)),
  )
}

/** Returns the requests that have not ended, the next first: a removal before any edit, and edits in the order of their requests. */
export function listPending({ removal, revisions = [] }: PlatformStatus): PublishedChange[] {
  return [...(removal ? [removal] : []), ...revisions].filter(({ status }) => status === 'pending')
}

/** Returns the entries with a request that has not ended. */
export function listPendingChanges({ platformStatuses }: Post): PlatformStatus[] {
  return platformStatuses.filter((entry) => listPending(entry).length > 0)
}

/** Returns the post with the time of its oldest request that has not ended. */
export function scheduleChanges(post: Post): Post {
  const times = post.platformStatuses.flatMap(listPending).map(({ requestedAt }) => requestedAt.getTime())
  return { ...post, changeDueAt: times.length === 0 ? null : new Date(Math.min(...times)) }
}

/** Records when the requests that have not ended are tried again. */
export function deferChanges(until: Date): Move {
  return (post) => (listPendingChanges(post).length === 0 ? post : { ...post, changeDueAt: until })
}

const LONGEST_WAIT_MS = 10 * MINUTE

/**
 * Returns the wait before a change is tried again, milliseconds: it grows with the age of the request.
 * @param statedMs the wait that the failure asks for
 */
export function toChangeWaitMs({ requestedAt }: Pick<PublishedChange, 'requestedAt'>, statedMs: number, now: Date) {
  return Math.max(statedMs, Math.min(LONGEST_WAIT_MS, (now.getTime() - requestedAt.getTime()) / 4))
}
