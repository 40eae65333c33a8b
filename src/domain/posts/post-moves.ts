import type { Platform } from '../shared/platforms.ts'
import {
  toCauseFields,
  findEntry,
  hasReachedAnyPlatform,
  createPlatformStatus,
  UNCLAIMED,
  rollUpPost,
} from './post-entries.ts'
import type { Content, Delivery, Move, PlatformStatus, Post } from './post.ts'
import { ServiceError } from '../shared/service-error.ts'

export type NewPost = Pick<
  Post,
  | '_id'
  | 'userId'
  | 'content'
  | 'platformSpecificContent'
  | 'selectedPlatforms'
  | 'scheduledAt'
  | 'timezone'
  | 'correlationId'
  | 'requestHash'
  | 'metadata'
> & { draft: boolean }

/** A new post in the status that its time decides (spec section 3): a past `scheduledAt` means now and is stored as null. */
export function newPost(input: NewPost, now: Date): Post {
  const { draft, ...fields } = input
  const due = draft
    ? { scheduledAt: input.scheduledAt, dueAt: null, status: 'DRAFT' as const }
    : toSchedule(input.scheduledAt, now)
  return {
    ...fields,
    ...due,
    contentVersion: 0,
    platformStatuses: input.selectedPlatforms.map(createPlatformStatus),
    // An immediate post needs no mark: being overdue already brings it to the sweeper.
    startPending: due.status === 'SCHEDULED',
    revision: 0,
    createdAt: now,
    updatedAt: now,
  }
}

function toSchedule(scheduledAt: Date | null, now: Date): Pick<Post, 'scheduledAt' | 'dueAt' | 'status'> {
  if (scheduledAt && scheduledAt > now) return { scheduledAt, dueAt: scheduledAt, status: 'SCHEDULED' }
  return { scheduledAt: null, dueAt: now, status: 'PENDING' }
}

/** A draft with the content of another post, without its time. */
export function copyAsDraft(post: Post, draft: Pick<NewPost, '_id' | 'metadata'>, now: Date): Post {
  const { userId, content, platformSpecificContent, selectedPlatforms, timezone } = post
  const fields = { userId, content, platformSpecificContent, selectedPlatforms, timezone }
  const unscheduled = { scheduledAt: null, correlationId: null, requestHash: null }
  return newPost({ ...fields, ...draft, ...unscheduled, draft: true }, now)
}

/** Whether a duplicate may take over the allowance of a post: it ended without reaching any platform, and still has its share. */
export function canTransferAllowance(post: Post): boolean {
  const hasEnded = post.status === 'FAILED' || post.status === 'CANCELLED'
  return hasEnded && post.allowanceMovedTo === undefined && !hasReachedAnyPlatform(post)
}

export interface PostChange {
  content?: Content
  platformSpecificContent?: Post['platformSpecificContent']
  selectedPlatforms?: Platform[]
  timezone?: string
  /** Absent keeps the time, null means now. */
  scheduledAt?: Date | null
  /** `DRAFT` keeps a draft a draft; the others publish it. Time decides between PENDING and SCHEDULED. */
  status?: 'DRAFT' | 'PENDING' | 'SCHEDULED'
}

/**
 * Changes a post that delivery has not claimed. Publishing a draft resets `createdAt` (spec section 3).
 * @throws ServiceError POST_NOT_EDITABLE
 */
export function edit(change: PostChange): Move {
  return (post, now) => {
    const isDraft = post.status === 'DRAFT'
    const isWaiting = post.status === 'PENDING' || post.status === 'SCHEDULED'
    if (!isDraft && !(isWaiting && change.status !== 'DRAFT')) {
      throw new ServiceError('POST_NOT_EDITABLE', 'Post can no longer be edited')
    }
    const { status, scheduledAt: newTime, ...fields } = change
    const scheduledAt = newTime === undefined ? post.scheduledAt : newTime
    const selectedPlatforms = change.selectedPlatforms ?? post.selectedPlatforms
    const edited: Post = {
      ...post,
      ...fields,
      selectedPlatforms,
      platformStatuses: selectedPlatforms.map((platform) => {
        const entry = findEntry(post, platform)
        // Failures before the edit say nothing of what comes after it.
        return entry
          ? { ...entry, ...toCauseFields(null), delivery: { ...entry.delivery, tries: 0 } }
          : createPlatformStatus(platform)
      }),
      contentVersion: change.content || change.platformSpecificContent ? post.contentVersion + 1 : post.contentVersion,
    }
    if (isDraft && (status === undefined || status === 'DRAFT')) return { ...edited, scheduledAt }
    const publishing = isDraft ? { createdAt: now } : {}
    const keepsTime = isWaiting && (newTime === undefined || newTime?.getTime() === post.scheduledAt?.getTime())
    return { ...edited, ...publishing, ...(keepsTime ? {} : toSchedule(scheduledAt, now)), startPending: true }
  }
}

/** @throws ServiceError NOT_FOUND with the specification's words, when delivery claimed the post or it never waited */
export function cancel(): Move {
  return (post) => {
    if (post.status !== 'PENDING' && post.status !== 'SCHEDULED') {
      throw new ServiceError('NOT_FOUND', 'Post not found, unauthorized, or not in a cancellable state')
    }
    return { ...post, status: 'CANCELLED', startPending: false }
  }
}

/**
 * Sends every failed platform round again. The idempotency key stays whenever an earlier call may have been accepted, until reconciling
 * that call has shown that it cannot be decided.
 * @throws ServiceError NO_FAILED_PLATFORMS, POST_IN_PROGRESS, POST_DUPLICATED
 */
export function retry(): Move {
  return (post, now) => {
    if (!post.platformStatuses.some(({ status }) => status === 'failed')) {
      throw new ServiceError('NO_FAILED_PLATFORMS', 'No failed platforms to retry')
    }
    if (post.status === 'PROCESSING') {
      throw new ServiceError('POST_IN_PROGRESS', 'Post is still being delivered, retry when it has ended')
    }
    if (post.allowanceMovedTo !== undefined) {
      throw new ServiceError('POST_DUPLICATED', 'A draft took the place of this post; publish the draft instead', {
        details: { draftId: post.allowanceMovedTo },
      })
    }
    return rollUpPost({
      ...post,
      dueAt: now,
      startPending: true,
      platformStatuses: post.platformStatuses.map((entry) =>
        entry.status === 'failed' ? startNextRound(entry) : entry,
      ),
    })
  }
}

function startNextRound(entry: PlatformStatus): PlatformStatus {
  const { delivery } = entry
  // Whatever became of later calls, one of which nothing is known may have been accepted: each round begins by reconciling it.
  const fresh: Partial<Delivery> = delivery.doubted
    ? { outcome: 'unknown', repeatAllowed: true }
    : { ...UNCLAIMED, outcome: 'none' }
  return {
    ...entry,
    status: 'pending',
    ...toCauseFields(null),
    delivery: {
      ...delivery,
      ...fresh,
      round: delivery.round + 1,
      tries: 0,
      reconcileTries: 0,
      nextAttemptAt: null,
      // A lease stays: the attempt that was given up may still be sending until it ends.
    },
  }
}
