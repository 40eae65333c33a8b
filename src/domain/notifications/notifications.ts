import type { BillingEvent } from '../billing/billing-update.ts'
import { resolveContent } from '../posts/content.ts'
import type { Failure } from '../posts/failure.ts'
import { withoutFileName } from '../posts/media-files.ts'
import { isWebUrl } from '../shared/links.ts'
import { platformLabel, type Platform } from '../shared/platforms.ts'
import { findFailedPost } from '../posts/parts.ts'
import { toFailure } from '../posts/post-entries.ts'
import type { Cause, PlatformStatus, Post, PublishedChange } from '../posts/post.ts'
import { toTarget, type Target } from '../posts/targets.ts'
import { toExcerpt } from '../shared/plain-text.ts'
import { trimFullStop } from '../shared/text.ts'
import { formatDate, formatIsoDate, formatTime } from '../shared/times.ts'
import type { ApiKey } from '../users/api-keys.ts'
import type { NotificationKind } from '../users/notification-preferences.ts'
import type { User } from '../users/user.ts'
import type { DisabledReason, Webhook } from '../webhooks/webhooks.ts'

export const NOTIFICATION_TYPES = ['success', 'error', 'info', 'warning'] as const
export type NotificationType = (typeof NOTIFICATION_TYPES)[number]
const MOST_SERIOUS_FIRST: readonly NotificationType[] = ['error', 'warning', 'info', 'success']

/** Returns the most serious of at least one type. */
export function findMostSerious(types: readonly NotificationType[]): NotificationType {
  return MOST_SERIOUS_FIRST.find((type) => types.includes(type))!
}

type Entry = Pick<PlatformStatus, 'platform' | 'target' | 'accountId' | 'accountName' | 'warning'>

/** A notification to store once. `dedupeKey` identifies its event. */
export interface NewNotification {
  userId: string
  dedupeKey: string
  kind: NotificationKind
  message: string
  type: NotificationType
  reference: { type: string; id: string; model: string }
  options: { image?: string; link?: string }
}

/** Returns the key of the mail about an event. Mails with equal keys are sent once, so that a post on many accounts has one mail per kind. */
export function toMailKey({ kind, reference, dedupeKey }: NewNotification): string {
  return reference.type === 'post' ? `${kind}:${reference.id}` : dedupeKey
}

/**
 * Reports that a post was created and is now pending or scheduled.
 * @param timezone of the user
 */
export function postCreated(post: Post, timezone: string): NewNotification {
  const isScheduled = post.status === 'SCHEDULED' && post.dueAt !== null
  const state = isScheduled ? `scheduled for ${formatTime(post.dueAt!, timezone)}` : 'pending'
  return createPostNotification(post._id, post.userId, {
    dedupeKey: `post-created:${post._id}`,
    kind: 'postCreated',
    type: 'success',
    message: `Your post${quoteExcerpt(post)} was created and is now ${state}`,
    options: pickImage(post),
  })
}

/**
 * Reports that a platform accepted the post, once per platform: a later round that finds the published post has the same key.
 * The post's content is optional, because the event is reported for deleted posts as well.
 */
export function postPublished(
  post: Pick<Post, '_id' | 'userId'> & Partial<Post>,
  entry: Entry,
  platformPostUrl: string,
): NewNotification {
  const excerpt = post.content ? quoteAfterColon(post as Post, entry) : ''
  const leftOut = entry.warning === undefined ? '' : `. ${entry.warning}`
  return createPostNotification(post._id, post.userId, {
    dedupeKey: `post-published:${post._id}:${toTarget(entry)}`,
    kind: 'postPublished',
    type: 'success',
    message: `Successfully posted on ${entry.platform}${nameAccount(post, entry)}${excerpt}${leftOut}`,
    options: { ...(post.content ? pickImage(post as Post, entry) : {}), ...toLinkOption(platformPostUrl) },
  })
}

const CONNECT: Partial<Record<Failure['code'], string>> = {
  unauthorized: 'Reconnect the account in settings',
  permission: 'Reconnect the account with all permissions',
  PLATFORM_NOT_CONNECTED: 'Connect the account in settings',
}

/** Next steps after a failed delivery, when the post can be retried but not edited. */
const AFTER_FAILURE: Partial<Record<Failure['code'], string>> = {
  PLATFORM_NOT_SUPPORTED: 'Retry the post once the platform is set up',
  OUTCOME_UNKNOWN: 'Check the platform, and retry only if the post is not there',
  validation: 'Create a changed post',
  MEDIA_UNAVAILABLE: 'Upload the file again in a new post',
  ACCOUNT_DISABLED: 'Ask an administrator to enable the account',
}

/** Next steps before the post is due, when it can be edited but not retried. */
const BEFORE_DUE: Partial<Record<Failure['code'], string>> = {
  validation: 'Change the post before it is due',
  MEDIA_UNAVAILABLE: 'Upload the file again and change the post before it is due',
  QUOTA_EXCEEDED: 'Move it or another post of the account to a later time, or let it wait for its turn',
  ACCOUNT_DISABLED: 'Ask an administrator to enable the account',
}

/** Next steps after a first comment has failed, when its post is published. */
const AFTER_FAILED_COMMENT: Partial<Record<Failure['code'], string>> = {
  ...AFTER_FAILURE,
  OUTCOME_UNKNOWN: 'Check the platform, and retry the post only if the comment is not there',
  validation: 'Write the comment on the platform',
}

/** Warns that a platform published the post, but not its first comment; instead of `postPublished`. */
export function commentFailed(post: Post, entry: PlatformStatus, reason: Failure): NewNotification {
  const step = stepAfter(reason, AFTER_FAILED_COMMENT, 'Retry the post to publish only the comment')
  return {
    ...postPublished(post, entry, entry.platformPostUrl!),
    type: 'warning',
    message: `Your post${quoteExcerpt(post, entry)} is published on ${describeTarget(post, entry)}, but its first comment failed: ${describeCause(reason)}. ${step}.`,
  }
}

/** Reports a failed delivery, once per platform and round, with its cause and the next step. */
export function postFailed(post: Post, entry: PlatformStatus, reason: Failure): NewNotification {
  const failed = findFailedPost(entry, resolveContent(post, entry))
  const where = failed ? ` at post ${failed.number} of the thread` : ''
  const published = failed ? ` ${describePublished(failed)}.` : ''
  const isPartial = failed !== null && failed.number > 1
  const step = stepAfter(
    reason,
    AFTER_FAILURE,
    isPartial ? 'Retry the post to publish the rest' : 'You can retry the post',
  )
  return createPostNotification(post._id, post.userId, {
    dedupeKey: `post-failed:${post._id}:${toTarget(entry)}:${entry.delivery.round}`,
    kind: 'postFailed',
    type: 'error',
    message: `Posting${quoteExcerpt(post, entry)} on ${describeTarget(post, entry)} failed${where}: ${describeCause(reason)}.${published} ${step}.`,
    options: pickImage(post, entry),
  })
}

/** Warns of each entry that is still on its platform after a request to remove it, or without its last edit, once per request. */
export function listFailedChanges(post: Post): NewNotification[] {
  return post.platformStatuses.flatMap((entry) => {
    const { removal, revisions } = entry
    const edit = revisions?.at(-1)
    return [
      ...(removal?.status === 'failed' ? [changeFailed(post, entry, 'removal', removal)] : []),
      // A removal has ended the others.
      ...(edit?.status === 'failed' && edit.errorCode !== 'CANCELLED' ? [changeFailed(post, entry, 'edit', edit)] : []),
    ]
  })
}

/** The causes of a failed change that say themselves what to do. */
const NAME_THEIR_STEP: ReadonlySet<Failure['code']> = new Set(['PLATFORM_NOT_SUPPORTED', 'PLATFORM_NOT_CONNECTED'])

const CHANGE_WORDS = {
  removal: { done: 'removed from', again: 'take the post back again', byHand: 'Delete it' },
  edit: { done: 'edited on', again: 'edit the post again', byHand: 'Edit it' },
}

function changeFailed(
  post: Post,
  entry: PlatformStatus,
  kind: keyof typeof CHANGE_WORDS,
  { requestedAt, ...cause }: Pick<PublishedChange, 'requestedAt'> & Cause,
): NewNotification {
  const reason = toFailure(cause)!
  const { done, again, byHand } = CHANGE_WORDS[kind]
  const connect = CONNECT[reason.code]
  const step = connect ? `${connect}, then ${again}` : `${byHand} in the ${platformLabel(entry.platform)} app`
  const steps = NAME_THEIR_STEP.has(reason.code) ? '' : ` ${step}.`
  return createPostNotification(post._id, post.userId, {
    dedupeKey: `${kind}-failed:${post._id}:${toTarget(entry)}:${requestedAt.getTime()}`,
    kind: 'postWarning',
    type: 'warning',
    message: `Your post${quoteExcerpt(post, entry)} could not be ${done} ${describeTarget(post, entry)}: ${describeCause(reason)}.${steps}`,
    options: toLinkOption(entry.platformPostUrl ?? ''),
  })
}

/** Begins the keys of all warnings about a post on one account. */
export function toWarningPrefix(postId: string, target: Target): string {
  return `post-warning:${postId}:${target}:`
}

/** Warns that preparation found a problem that will make the delivery fail unless the user acts. */
export function preparationFailed(post: Post, entry: PlatformStatus, reason: Failure): NewNotification {
  return createPostNotification(post._id, post.userId, {
    dedupeKey: `${toWarningPrefix(post._id, toTarget(entry))}${entry.delivery.round}:${post.contentVersion}`,
    kind: 'postWarning',
    type: 'warning',
    message: `Your scheduled post${quoteExcerpt(post, entry)} may ${reason.code === 'QUOTA_EXCEEDED' ? 'be late' : 'fail'} on ${describeTarget(post, entry)}: ${describeCause(reason)}. ${stepBeforeDue(reason)}.`,
    options: pickImage(post, entry),
  })
}

/** Reports once per round that a delivery waits for long, with the time of its next attempt. */
export function deliveryWaits(
  post: Post,
  entry: PlatformStatus,
  reason: Failure,
  nextAttemptAt: Date,
): NewNotification {
  const time = formatTime(nextAttemptAt, post.timezone)
  return createPostNotification(post._id, post.userId, {
    dedupeKey: `post-waits:${post._id}:${toTarget(entry)}:${entry.delivery.round}`,
    kind: 'postWarning',
    type: 'info',
    message: `Your post${quoteExcerpt(post, entry)} waits for ${describeTarget(post, entry)}: ${describeCause(reason)}. The next attempt is on ${time}. You can cancel it until then.`,
    options: pickImage(post, entry),
  })
}

interface Connection {
  userId: string
  platform: Platform
  /** The handle of the account where the user has several on the platform. */
  accountName?: string | undefined
}

/** Reports that a connection has expired, once per version of its credentials. */
export function connectionExpired(connection: Connection & { version: number }): NewNotification {
  const { userId, platform, version } = connection
  return {
    userId,
    dedupeKey: `connection-expired:${userId}:${platform}:${version}`,
    kind: 'accountLogin',
    type: 'warning',
    message: `Your ${describeConnection(connection)} has expired. Reconnect the account in settings.`,
    reference: { type: 'platform', id: platform, model: 'PlatformAccount' },
    options: {},
  }
}

/**
 * Warns that a connection will end unless the user logs in again, once per end date.
 * @param timezone of the user
 */
export function connectionEnding(
  connection: Connection & { accountId: string; timezone: string },
  endsAt: Date,
): NewNotification {
  const { userId, platform, accountId, timezone } = connection
  return {
    userId,
    dedupeKey: `connection-ending:${accountId}:${formatIsoDate(endsAt)}`,
    kind: 'accountLogin',
    type: 'warning',
    message: `Your ${describeConnection(connection)} ends on ${formatDate(endsAt, timezone)}. Reconnect the account in settings before then.`,
    reference: { type: 'platform', id: platform, model: 'PlatformAccount' },
    options: {},
  }
}

/** Reports that an API key was created, so that its owner notices a key that an attacker created with a stolen session. */
export function apiKeyCreated({ keyId, userId, name }: Pick<ApiKey, 'keyId' | 'userId' | 'name'>): NewNotification {
  return {
    userId,
    dedupeKey: `api-key-created:${keyId}`,
    kind: 'security',
    type: 'info',
    message: `An API key “${toExcerpt(name)}” was created. If you did not create it, delete it and change your password.`,
    reference: { type: 'apiKey', id: keyId, model: 'ApiKey' },
    options: {},
  }
}

/** Reports that a webhook was created, so that its owner notices one that an attacker created to read along. */
export function webhookCreated({ _id, userId, url }: Pick<Webhook, '_id' | 'userId' | 'url'>): NewNotification {
  return {
    userId,
    dedupeKey: `webhook-created:${_id}`,
    kind: 'security',
    type: 'info',
    message: `A webhook to ${toHost(url)} was created. If you did not create it, delete it and change your password.`,
    reference: { type: 'webhook', id: _id, model: 'Webhook' },
    options: {},
  }
}

const WHY_DISABLED: Record<Exclude<DisabledReason, 'user'>, string> = {
  gone: 'its receiver responded with 410 Gone. Delete it, or enable it again if this was a mistake',
  failing: 'all deliveries have failed for five days. Repair its receiver, then enable it again',
}

/** Reports that the service disabled a webhook, once per time. */
export function webhookDisabledByService(
  { _id, userId, url }: Pick<Webhook, '_id' | 'userId' | 'url'>,
  reason: Exclude<DisabledReason, 'user'>,
  at: Date,
): NewNotification {
  return {
    userId,
    dedupeKey: `webhook-disabled:${_id}:${at.toISOString()}`,
    kind: 'webhook',
    type: 'warning',
    message: `Your webhook to ${toHost(url)} was disabled, because ${WHY_DISABLED[reason]}.`,
    reference: { type: 'webhook', id: _id, model: 'Webhook' },
    options: {},
  }
}

/** The path of a webhook may be secret. */
function toHost(url: string): string {
  return new URL(url).host
}

/** Reports that an admin or a payment changed the user's plan, once per change id. */
export function planChanged({ _id, subscription, limits }: Payer, changeId: string): NewNotification {
  const isPro = subscription.plan === 'pro'
  const allowance = `${limits.maxPosts} posts and ${limits.maxCaptionGenerations} caption generations`
  return createUserNotification(_id, _id, {
    dedupeKey: `plan-changed:${changeId}`,
    type: isPro ? 'success' : 'info',
    message: `Your account is now on the ${isPro ? 'Pro' : 'Free'} plan: ${allowance}. No action is needed.`,
  })
}

type Payer = Pick<User, '_id' | 'timezone' | 'subscription' | 'limits'>

/**
 * Reports a change of the subscription, once per change id. The texts name the billing portal without a link, because the
 * processor creates a link for each visit.
 */
export function billingChanged(
  kind: Exclude<BillingEvent['kind'], 'secondSubscription'>,
  user: Payer,
  changeId: string,
): NewNotification {
  if (kind === 'planChanged') return planChanged(user, changeId)
  const end = user.subscription.currentPeriodEnd
  const texts = {
    paymentFailed: {
      type: 'warning',
      message:
        'The payment for your Pro plan failed. Your account stays on Pro for now. Check your payment method in the billing portal.',
    },
    paymentRecovered: {
      type: 'success',
      message: 'The payment for your Pro plan went through. No action is needed.',
    },
    planEnding: {
      type: 'info',
      message: `Your Pro plan ends${end ? ` on ${formatDate(end, user.timezone)}` : ' with the paid period'}. You can resume it in the billing portal until then.`,
    },
    planContinues: {
      type: 'success',
      message: 'Your Pro plan continues and renews after the paid period. No action is needed.',
    },
  } as const
  return createUserNotification(user._id, user._id, { dedupeKey: `billing:${changeId}:${kind}`, ...texts[kind] })
}

/** Reports a second active subscription of one account to its user, and by ids only to every admin. */
export function secondSubscription(
  userId: string,
  ids: { first: string | null; second: string },
  adminIds: string[],
): NewNotification[] {
  const dedupeKey = `second-subscription:${ids.second}`
  const toUser = createUserNotification(userId, userId, {
    dedupeKey: `${dedupeKey}:user`,
    type: 'warning',
    message:
      'Your account has a second active Pro subscription, and both are charged. Cancel the one you do not need in the billing portal, or contact support.',
  })
  const message = `User ${userId} pays for a second subscription, ${ids.second}, in addition to ${ids.first ?? 'the first'}. Help the user cancel one.`
  const toAdmins = adminIds.map((adminId) =>
    createUserNotification(adminId, userId, { dedupeKey: `${dedupeKey}:admin:${adminId}`, type: 'warning', message }),
  )
  return [toUser, ...toAdmins]
}

function createUserNotification(
  userId: string,
  aboutId: string,
  event: Pick<NewNotification, 'dedupeKey' | 'type' | 'message'>,
): NewNotification {
  return { ...event, userId, kind: 'billing', reference: { type: 'user', id: aboutId, model: 'User' }, options: {} }
}

function createPostNotification(
  postId: string,
  userId: string,
  event: Pick<NewNotification, 'dedupeKey' | 'kind' | 'type' | 'message' | 'options'>,
): NewNotification {
  return { ...event, userId, reference: { type: 'post', id: postId, model: 'Post' } }
}

function stepAfter({ code }: Failure, steps: typeof AFTER_FAILURE, otherwise: string): string {
  return CONNECT[code] ? `${CONNECT[code]}, then retry the post` : (steps[code] ?? otherwise)
}

/** Returns how much of a failed thread is published. */
function describePublished({ number, total }: { number: number; total: number }): string {
  const published = number - 1
  const verb = published === 1 ? 'is' : 'are'
  return published === 0
    ? `None of the ${total} posts is published`
    : `${published} of ${total} posts of the thread ${verb} published`
}

function stepBeforeDue({ code }: Failure): string {
  if (CONNECT[code]) return `${CONNECT[code]} before the post is due`
  return BEFORE_DUE[code] ?? 'The service retries when the post is due'
}

/** Returns the reason as a clause. Messages about files contain file names, which are user input and must not be in notifications. */
function describeCause({ code, message }: Failure): string {
  if (code === 'MEDIA_UNAVAILABLE') return withoutFileName(message) ?? 'A file of the post cannot be published'
  return trimFullStop(message)
}

/** Returns the name of the entry's account in parentheses after a space; empty where the platform alone says which account it is. */
function nameAccount({ platformStatuses = [] }: Partial<Post>, { platform, target, accountName = '' }: Entry): string {
  const isOnlyOne = target === undefined && platformStatuses.filter((one) => one.platform === platform).length < 2
  const name = isOnlyOne ? '' : toExcerpt(accountName)
  return name === '' ? '' : ` (${name})`
}

function describeTarget(post: Post, entry: Entry): string {
  return `${platformLabel(entry.platform)}${nameAccount(post, entry)}`
}

function describeConnection({ platform, accountName = '' }: Connection): string {
  const name = toExcerpt(accountName)
  return `${platformLabel(platform)} connection${name === '' ? '' : ` of ${name}`}`
}

/** Returns the beginning of the post in quotation marks after a space; empty for a post without text. */
function quoteExcerpt(post: Post, entry?: Entry): string {
  const excerpt = toExcerpt(entry ? resolveContent(post, entry).text : post.content.text)
  return excerpt === '' ? '' : ` “${excerpt}”`
}

/** Returns `quoteExcerpt` after a colon. */
function quoteAfterColon(post: Post, entry: Entry): string {
  const quoted = quoteExcerpt(post, entry)
  return quoted === '' ? '' : `:${quoted}`
}

function pickImage(post: Post, entry?: Entry): { image?: string } {
  const { mediaItems } = entry ? resolveContent(post, entry) : post.content
  const first = mediaItems.find(({ mimeType }) => mimeType.startsWith('image/'))
  return first && isWebUrl(first.storageUrl) ? { image: first.storageUrl } : {}
}

function toLinkOption(url: string): { link?: string } {
  return isWebUrl(url) ? { link: url } : {}
}
