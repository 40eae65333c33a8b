import type { Platform } from '../shared/platforms.ts'
import {
  toCauseFields,
  canBeWithdrawn,
  findEntry,
  hasReachedAnyPlatform,
  createPlatformStatus,
  isOpenEntry,
  isIdle,
  isWaiting,
  UNCLAIMED,
  rollUpPost,
  toNextKey,
  endWithFailure,
} from './post-entries.ts'
import { failure } from './failure.ts'
import type { DueOrder } from './due-order.ts'
import type { Content, ContentOverride, Delivery, IfLate, Move, PlatformStatus, Post, PostGroup } from './post.ts'
import { toTarget, type ChosenAccount } from './targets.ts'
import { ServiceError } from '../shared/service-error.ts'
import { SECOND } from '../shared/times.ts'

export type NewPost = Pick<
  Post,
  | '_id'
  | 'userId'
  | 'content'
  | 'platformSpecificContent'
  | 'accountSpecificContent'
  | 'selectedPlatforms'
  | 'selectedAccounts'
  | 'groups'
  | 'scheduledAt'
  | 'slotOf'
  | 'ifLate'
  | 'timezone'
  | 'correlationId'
  | 'requestHash'
  | 'metadata'
> & {
  /** The accounts that are selected; by default, the platforms. */
  chosen?: ChosenAccount[]
  dueOrder?: DueOrder
  /** How long the post waits if it is immediate, seconds; 0 by default. */
  holdSeconds?: number
  draft: boolean
}

/** Creates a post. `scheduledAt` determines its status; a past one means now and is stored as null. */
export function newPost(input: NewPost, now: Date): Post {
  const { draft, dueOrder, holdSeconds, chosen = toDefaults(input.selectedPlatforms), ...fields } = input
  const due = draft
    ? { scheduledAt: input.scheduledAt, dueAt: null, status: 'DRAFT' as const }
    : toSchedule(input.scheduledAt, now, { dueOrder, holdSeconds })
  return {
    ...fields,
    ...due,
    contentVersion: 0,
    platformStatuses: chosen.map(createEntry),
    // A post that is due now needs no mark: the sweeper finds it because it is overdue.
    startPending: due.dueAt !== null && due.dueAt > now,
    revision: 0,
    createdAt: now,
    updatedAt: now,
  }
}

const toDefaults = (platforms: Platform[]): ChosenAccount[] => platforms.map((platform) => ({ platform }))

const createEntry = ({ platform, ...account }: ChosenAccount): PlatformStatus => createPlatformStatus(platform, account)

/** Returns what the time of a post means for it. A past time means now, and an immediate post waits for the end of its hold. */
export function toSchedule(
  scheduledAt: Date | null,
  now: Date,
  { dueOrder, holdSeconds = 0 }: { dueOrder?: DueOrder | undefined; holdSeconds?: number | undefined } = {},
): Pick<Post, 'scheduledAt' | 'dueRank' | 'status'> & { dueAt: Date } {
  if (scheduledAt && scheduledAt > now) {
    const dueAt = dueOrder?.delayMs ? new Date(scheduledAt.getTime() + dueOrder.delayMs) : scheduledAt
    return { scheduledAt, dueAt, ...(dueOrder && { dueRank: dueOrder.dueRank }), status: 'SCHEDULED' }
  }
  return { scheduledAt: null, dueAt: new Date(now.getTime() + holdSeconds * SECOND), status: 'PENDING' }
}

/** Creates a draft with the content of another post, without its schedule. */
export function copyAsDraft(post: Post, draft: Pick<NewPost, '_id' | 'metadata'>, now: Date): Post {
  const { userId, content, platformSpecificContent, accountSpecificContent } = post
  const { selectedPlatforms, selectedAccounts, groups } = post
  const fields = {
    ...{ userId, content, platformSpecificContent, selectedPlatforms, timezone: post.timezone },
    ...(accountSpecificContent && { accountSpecificContent }),
    ...(selectedAccounts && { selectedAccounts }),
    ...(groups && { groups }),
    ...(post.ifLate && { ifLate: post.ifLate }),
    chosen: post.platformStatuses.map(toChosen),
  }
  const unscheduled = { scheduledAt: null, correlationId: null, requestHash: null }
  return { ...newPost({ ...fields, ...draft, ...unscheduled, draft: true }, now), duplicateOf: post._id }
}

/** Picks the fields that name an account. */
export function toChosen({ platform, target, accountId, accountName, server }: ChosenAccount): ChosenAccount {
  return {
    platform,
    ...(target !== undefined && { target }),
    ...(accountId !== undefined && { accountId }),
    ...(accountName !== undefined && { accountName }),
    ...(server !== undefined && { server }),
  }
}

/** Returns true when a post ended without reaching any platform and its allowance was not transferred to a duplicate yet. */
export function canTransferAllowance(post: Post): boolean {
  const hasEnded = post.status === 'FAILED' || post.status === 'CANCELLED'
  return hasEnded && post.allowanceMovedTo === undefined && !hasReachedAnyPlatform(post)
}

export interface PostChange {
  content?: Content
  platformSpecificContent?: Post['platformSpecificContent']
  accountSpecificContent?: Record<string, ContentOverride>
  selectedPlatforms?: Platform[]
  selectedAccounts?: string[]
  groups?: PostGroup[]
  /** The accounts that are selected; absent when the selection stays. */
  chosen?: ChosenAccount[]
  timezone?: string
  /** Undefined keeps the time, null means now. */
  scheduledAt?: Date | null
  /** The account or group whose slot the new time is. */
  slotOf?: string
  ifLate?: IfLate | null
  /** The order at the new time. */
  dueOrder?: DueOrder
  /** How long an immediate post waits from now on, seconds. Undefined keeps the wait of a post that is immediate already. */
  holdSeconds?: number
  /** `DRAFT` keeps a draft; the others publish it. `scheduledAt` determines whether it becomes PENDING or SCHEDULED. */
  status?: 'DRAFT' | 'PENDING' | 'SCHEDULED'
}

/**
 * Edits a post that certainly was not sent. Publishing a draft resets `createdAt`.
 * @param defaultHoldSeconds the hold of a post that becomes immediate by a change without one
 * @throws ServiceError POST_NOT_EDITABLE
 */
export function edit(change: PostChange, defaultHoldSeconds = 0): Move {
  return (post, now) => {
    const isDraft = post.status === 'DRAFT'
    const isEditable = isDraft || (canBeWithdrawn(post) && change.status !== 'DRAFT')
    if (!isEditable) {
      throw new ServiceError('POST_NOT_EDITABLE', 'Post can no longer be edited')
    }
    const { status, scheduledAt: newTime, dueOrder, holdSeconds, slotOf, ...others } = change
    const { chosen = findChosen(post, change), ...fields } = others
    const scheduledAt = newTime === undefined ? post.scheduledAt : newTime
    const isSameTime = newTime === undefined || newTime?.getTime() === post.scheduledAt?.getTime()
    const edited: Post = {
      ...post,
      ...fields,
      platformStatuses: chosen.map((account) => {
        const entry = findEntry(post, toTarget(account))
        return entry ? editEntry(entry, account) : createEntry(account)
      }),
      contentVersion: changesContent(change) ? post.contentVersion + 1 : post.contentVersion,
      ...(post.dueCheck && { dueCheck: { ...post.dueCheck, at: null } }),
      ...(slotOf !== undefined ? { slotOf } : !isSameTime && leaveSlot(post)),
    }
    if (isDraft && (status === undefined || status === 'DRAFT')) return { ...edited, scheduledAt }
    const publishing = isDraft ? { createdAt: now } : {}
    const isHeldAnew = holdSeconds !== undefined && scheduledAt === null
    const keepsTime = !isDraft && isSameTime && !isHeldAnew
    const time = keepsTime
      ? {}
      : toSchedule(scheduledAt, now, { dueOrder, holdSeconds: holdSeconds ?? defaultHoldSeconds })
    return { ...edited, ...publishing, ...time, startPending: true }
  }
}

/**
 * Failures before the edit do not apply to the edited post. Its next call is another one, with the next key and the new time. A wait for
 * the platform stays unless the post is moved to another account.
 */
function editEntry({ delivery, ...entry }: PlatformStatus, account: ChosenAccount): PlatformStatus {
  const { turnDueAt: _, ...others } = delivery
  const isMoved = entry.accountId !== undefined && entry.accountId !== account.accountId
  const fresh = {
    key: delivery.key && toNextKey(delivery.key),
    ...{ dueAt: null, startedAt: null, tries: 0 },
    ...(isMoved && { nextAttemptAt: null, outage: null }),
  }
  return { ...entry, ...account, ...toCauseFields(null), delivery: { ...others, ...fresh } }
}

/** Returns the change that moves a post from one account to another; null when the post is not for the first, or already for the second. */
export function changeAccount(
  post: Post,
  from: string,
  to: Omit<ChosenAccount, 'platform' | 'target'>,
): PostChange | null {
  const chosen = post.platformStatuses.map(toChosen)
  const isFor = (id: string | undefined) => chosen.some(({ accountId }) => accountId === id)
  if (!isFor(from) || isFor(to.accountId)) return null
  const { [from]: own, ...others } = post.accountSpecificContent ?? {}
  const moveIds = (ids: string[]) => ids.map((id) => (id === from ? to.accountId! : id))
  return {
    chosen: chosen.map((one) =>
      one.accountId === from ? { ...one, ...to, ...(one.target !== undefined && { target: to.accountId! }) } : one,
    ),
    ...(post.selectedAccounts && { selectedAccounts: moveIds(post.selectedAccounts) }),
    ...(post.groups && {
      groups: post.groups.map((group) => ({ ...group, accountIds: moveIds(group.accountIds) })),
    }),
    ...(own && { accountSpecificContent: { ...others, [to.accountId!]: own } }),
  }
}

function findChosen({ platformStatuses }: Post, { selectedPlatforms }: PostChange): ChosenAccount[] {
  return selectedPlatforms ? toDefaults(selectedPlatforms) : platformStatuses.map(toChosen)
}

const changesContent = ({ content, platformSpecificContent, accountSpecificContent }: PostChange): boolean =>
  [content, platformSpecificContent, accountSpecificContent].some((part) => part !== undefined)

/** Frees the slot of a post, if it has one. */
function leaveSlot({ slotOf }: Post): Pick<Post, 'slotOf'> {
  return slotOf ? { slotOf: null } : {}
}

/** Returns whether cancelling these accounts of a post in delivery ends the entry. Published parts stay. */
export function isStopped(entry: PlatformStatus, accountIds: readonly string[]): boolean {
  return isIdle(entry) && entry.accountId !== undefined && accountIds.includes(entry.accountId)
}

/**
 * Cancels a post that certainly was not sent, or ends the waiting deliveries to some accounts of a post in delivery.
 * @throws ServiceError NOT_FOUND when it has ended or was sent
 */
export function cancel(accountIds?: readonly string[]): Move {
  return (post, now) => {
    const stops = (entry: PlatformStatus) => !accountIds || isStopped(entry, accountIds)
    if (canBeWithdrawn(post) && post.platformStatuses.every(stops)) {
      return { ...post, status: 'CANCELLED', startPending: false, ...leaveSlot(post) }
    }
    if (!accountIds || post.status !== 'PROCESSING' || !post.platformStatuses.some(stops)) {
      throw new ServiceError('NOT_FOUND', 'Post not found, unauthorized, or not in a cancellable state')
    }
    return rollUpPost({
      ...post,
      platformStatuses: post.platformStatuses.map((entry) => (stops(entry) ? stopEntry(post, entry, now) : entry)),
    })
  }
}

function stopEntry(post: Post, entry: PlatformStatus, now: Date): PlatformStatus {
  const reason = failure('CANCELLED', 'You cancelled this delivery')
  const delivery = { ...entry.delivery, nextAttemptAt: null }
  return { ...entry, ...endWithFailure(post, entry, reason, now), delivery }
}

/**
 * Starts a new round for every failed platform, or of those that are published with these accounts. A platform whose earlier call may have been accepted keeps its idempotency key
 * until reconciliation cannot determine the outcome. A delivery that waits keeps its turn.
 * @throws ServiceError NO_FAILED_PLATFORMS, POST_IN_PROGRESS; also when the post has no share of the allowance
 */
export function retry(accountIds?: readonly string[]): Move {
  return (post, now) => {
    assertRetriable(post, now, accountIds)
    if (post.allowanceMovedTo !== undefined) throw postChanged()
    return rollUpPost({
      ...post,
      dueAt: now,
      startPending: true,
      platformStatuses: post.platformStatuses.map((entry) =>
        isRetried(entry, accountIds) ? startNextRound(entry) : keepTurn(entry, post),
      ),
    })
  }
}

/** @throws ServiceError NO_FAILED_PLATFORMS, POST_IN_PROGRESS */
export function assertRetriable(post: Post, now: Date, accountIds?: readonly string[]): void {
  const retried = post.platformStatuses.filter((entry) => isRetried(entry, accountIds))
  if (retried.length === 0) throw new ServiceError('NO_FAILED_PLATFORMS', 'No failed platforms to retry')
  if (retried.some(({ removal }) => removal?.status === 'pending')) {
    const message = 'What is published of the post is being removed. Retry once that has ended.'
    throw new ServiceError('POST_IN_PROGRESS', message)
  }
  if (!isWaiting(post, now)) {
    throw new ServiceError('POST_IN_PROGRESS', 'Post is still being delivered. Retry once delivery has ended.')
  }
}

function keepTurn(entry: PlatformStatus, { dueAt }: Post): PlatformStatus {
  if (!isOpenEntry(entry) || dueAt === null) return entry
  return { ...entry, delivery: { turnDueAt: dueAt, ...entry.delivery } }
}

/** Records that a duplicate was submitted for the accounts that failed. */
export function replaceFailed(duplicate: Pick<Post, '_id' | 'platformStatuses'>): Move {
  const isNewlyReplaced = ({ status, platform, accountId, replacedBy }: PlatformStatus) =>
    status === 'failed' &&
    replacedBy !== duplicate._id &&
    duplicate.platformStatuses.some((entry) =>
      // A delivery that failed without an account is replaced on any account of its platform.
      accountId === undefined ? entry.platform === platform : entry.accountId === accountId,
    )
  return (post) => {
    if (!post.platformStatuses.some(isNewlyReplaced)) return post
    const platformStatuses = post.platformStatuses.map((entry) =>
      isNewlyReplaced(entry) ? { ...entry, replacedBy: duplicate._id } : entry,
    )
    return { ...post, platformStatuses }
  }
}

/** The error of a request that lost against a concurrent change of the post. */
export function postChanged(): ServiceError {
  return new ServiceError('POST_IN_PROGRESS', 'The post changed meanwhile. Read it again, then repeat the request.')
}

/** Returns whether a retry of these accounts, or of all, includes the entry. */
export function isRetried({ status, comment, accountId }: PlatformStatus, accountIds?: readonly string[]): boolean {
  const hasFailed = status === 'failed' || (status === 'completed' && comment?.status === 'failed')
  return hasFailed && (!accountIds || (accountId !== undefined && accountIds.includes(accountId)))
}

export function startNextRound(entry: PlatformStatus): PlatformStatus {
  const { turnDueAt: _, ...delivery } = entry.delivery
  // A call with an unknown outcome may have been accepted whatever later calls returned, so each round starts by reconciling it.
  const fresh: Partial<Delivery> = delivery.hadUnknownOutcome
    ? { outcome: 'unknown', repeatAllowed: true }
    : { ...UNCLAIMED, outcome: 'none' }
  return {
    ...entry,
    status: 'pending',
    ...(entry.removal && { removal: null }),
    ...(entry.replacedBy && { replacedBy: null }),
    ...(entry.comment && { comment: { status: 'pending' } }),
    ...toCauseFields(null),
    delivery: {
      ...delivery,
      ...fresh,
      round: delivery.round + 1,
      tries: 0,
      reconcileTries: 0,
      nextAttemptAt: null,
      outage: null,
      // The lease stays: the abandoned attempt may still be sending until the lease ends.
    },
  }
}
