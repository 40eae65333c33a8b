import type { BillingEvent } from '../billing/billing-update.ts'
import { resolveContent } from '../posts/content.ts'
import type { Failure } from '../posts/failure.ts'
import { platformLabel, type Platform } from '../shared/platforms.ts'
import type { Post } from '../posts/post.ts'
import { toExcerpt } from '../shared/plain-text.ts'
import { trimFullStop } from '../shared/text.ts'
import { formatDate, formatIsoDate, formatTime } from '../shared/times.ts'
import type { User } from '../users/user.ts'

export const NOTIFICATION_TYPES = ['success', 'error', 'info', 'warning'] as const
export type NotificationType = (typeof NOTIFICATION_TYPES)[number]

/** What happened, in a shape that can be stored once: `dedupeKey` names the event (invariant I6). */
export interface NewNotification {
  userId: string
  dedupeKey: string
  message: string
  type: NotificationType
  reference: { type: string; id: string; model: string }
  options: { image?: string; link?: string }
}

/**
 * Spec 6.2: a post was created and is now pending or scheduled.
 * @param timezone of the user
 */
export function postCreated(post: Post, timezone: string): NewNotification {
  const isScheduled = post.status === 'SCHEDULED' && post.dueAt !== null
  const state = isScheduled ? `scheduled for ${formatTime(post.dueAt!, timezone)}` : 'pending'
  return createPostNotification(post._id, post.userId, {
    dedupeKey: `post-created:${post._id}`,
    type: 'success',
    message: `Your post${quoteExcerpt(post)} was created and is now ${state}`,
    options: pickImage(post),
  })
}

/**
 * Spec 6.2: a platform accepted, which it does once: a round that finds what an earlier one published raises the same event. Takes
 * ids, not the post alone: it is raised for a deleted post as well.
 */
export function postPublished(
  post: Pick<Post, '_id' | 'userId'> & Partial<Post>,
  platform: Platform,
  platformPostUrl: string,
): NewNotification {
  return createPostNotification(post._id, post.userId, {
    dedupeKey: `post-published:${post._id}:${platform}`,
    type: 'success',
    message: `Successfully posted on ${platform}${post.content ? quoteAfterColon(post as Post, platform) : ''}`,
    options: { ...(post.content ? pickImage(post as Post, platform) : {}), ...toLinkOption(platformPostUrl) },
  })
}

const CONNECT: Partial<Record<Failure['code'], string>> = {
  unauthorized: 'Reconnect the account in settings',
  permission: 'Reconnect the account with all permissions',
  PLATFORM_NOT_CONNECTED: 'Connect the account in settings',
}

/** What helps once a delivery has failed: the post can be retried, and no longer edited. */
const AFTER_FAILURE: Partial<Record<Failure['code'], string>> = {
  PLATFORM_NOT_SUPPORTED: 'Retry the post once the platform is set up',
  OUTCOME_UNKNOWN: 'Look at the platform, and retry only if the post is not there',
  validation: 'Create a changed post',
  MEDIA_UNAVAILABLE: 'Upload the file again in a new post',
  ACCOUNT_DISABLED: 'Ask an administrator to enable the account',
}

/** What helps ahead of the instant: the post can be edited, and not yet retried. */
const BEFORE_DUE: Partial<Record<Failure['code'], string>> = {
  validation: 'Change the post before it is due',
  MEDIA_UNAVAILABLE: 'Upload the file again and change the post before it is due',
  ACCOUNT_DISABLED: 'Ask an administrator to enable the account',
}

/** One per platform and delivery round: names platform, cause and next step (contract section 9). */
export function postFailed(post: Post, platform: Platform, round: number, reason: Failure): NewNotification {
  return createPostNotification(post._id, post.userId, {
    dedupeKey: `post-failed:${post._id}:${platform}:${round}`,
    type: 'error',
    message: `Posting${quoteExcerpt(post, platform)} on ${platformLabel(platform)} failed: ${describeCause(reason)}. ${stepAfterFailure(reason)}.`,
    options: pickImage(post, platform),
  })
}

/** An early warning: preparing found what will make the delivery fail unless the user acts. */
export function preparationFailed(post: Post, platform: Platform, round: number, reason: Failure): NewNotification {
  return createPostNotification(post._id, post.userId, {
    dedupeKey: `post-warning:${post._id}:${platform}:${round}:${post.contentVersion}`,
    type: 'warning',
    message: `Your scheduled post${quoteExcerpt(post, platform)} may fail on ${platformLabel(platform)}: ${describeCause(reason)}. ${stepBeforeDue(reason)}.`,
    options: pickImage(post, platform),
  })
}

/**
 * How a post with several platforms ended as a whole, once per round of delivery. Null while a delivery is open, and for a post with
 * one platform, whose own notification says it.
 */
export function postEnded(post: Post): NewNotification | null {
  const ending = describeEnding(post)
  if (post.platformStatuses.length < 2 || ending === null) return null
  const round = Math.max(...post.platformStatuses.map(({ delivery }) => delivery.round))
  return createPostNotification(post._id, post.userId, {
    dedupeKey: `post-ended:${post._id}:${round}`,
    ...ending,
    options: pickImage(post),
  })
}

function describeEnding(post: Post): Pick<NewNotification, 'type' | 'message'> | null {
  const { status, platformStatuses: entries } = post
  const failed = entries.filter((entry) => entry.status === 'failed')
  const labels = failed.map(({ platform }) => platformLabel(platform)).join(', ')
  switch (status) {
    case 'COMPLETED':
      return {
        type: 'success',
        message: `Your post${quoteExcerpt(post)} was published on all ${entries.length} platforms.`,
      }
    case 'PARTIAL_SUCCESS': {
      const count = `${entries.length - failed.length} of ${entries.length} platforms`
      const message = `Your post${quoteExcerpt(post)} was published on ${count} and failed on ${labels}. Open the post to see why.`
      return { type: 'warning', message }
    }
    case 'FAILED':
      return {
        type: 'error',
        message: `Your post${quoteExcerpt(post)} failed on all ${entries.length} platforms. Open the post to see why.`,
      }
    default:
      return null
  }
}

/** Contract section 9: one for every time a connection ends. */
export function connectionExpired(userId: string, platform: Platform, credentialVersion: number): NewNotification {
  return {
    userId,
    dedupeKey: `connection-expired:${userId}:${platform}:${credentialVersion}`,
    type: 'warning',
    message: `Your ${platformLabel(platform)} connection has expired. Reconnect the account in settings.`,
    reference: { type: 'platform', id: platform, model: 'PlatformAccount' },
    options: {},
  }
}

/**
 * A connection that only a new login keeps alive: once for each end it comes to.
 * @param timezone of the user
 */
export function connectionEnding(
  { userId, platform, timezone }: { userId: string; platform: Platform; timezone: string },
  endsAt: Date,
): NewNotification {
  return {
    userId,
    dedupeKey: `connection-ending:${userId}:${platform}:${formatIsoDate(endsAt)}`,
    type: 'warning',
    message: `Your ${platformLabel(platform)} connection ends on ${formatDate(endsAt, timezone)}. Reconnect the account in settings before.`,
    reference: { type: 'platform', id: platform, model: 'PlatformAccount' },
    options: {},
  }
}

/** The plan of a user was changed, by an admin or by a payment: once for each change, which has an id. */
export function planChanged({ _id, subscription, limits }: Payer, changeId: string): NewNotification {
  const isPro = subscription.plan === 'pro'
  const allowance = `${limits.maxPosts} posts and ${limits.maxCaptionGenerations} caption generations`
  return createUserNotification(_id, _id, {
    dedupeKey: `plan-changed:${changeId}`,
    type: isPro ? 'success' : 'info',
    message: `Your account is on the ${isPro ? 'Pro' : 'Free'} plan now: ${allowance}`,
  })
}

type Payer = Pick<User, '_id' | 'timezone' | 'subscription' | 'limits'>

/**
 * What a change of the subscription means for the user: once for each change, which has an id. They name places, not addresses: those
 * of the processor's pages are made for one visit.
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
        'The payment for your Pro plan did not go through. Your account stays on Pro for now: check your payment method in the billing portal.',
    },
    paymentRecovered: {
      type: 'success',
      message: 'The payment for your Pro plan went through. Nothing else is to do.',
    },
    planEnding: {
      type: 'info',
      message: `Your Pro plan ends${end ? ` on ${formatDate(end, user.timezone)}` : ' with the paid period'}. You can resume it in the billing portal until then.`,
    },
    planContinues: { type: 'success', message: 'Your Pro plan goes on and will not end with the paid period.' },
  } as const
  return createUserNotification(user._id, user._id, { dedupeKey: `billing:${changeId}:${kind}`, ...texts[kind] })
}

/** Two subscriptions run for one account: told to its user, and to every admin by ids alone. */
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
      'A second Pro subscription runs for your account and is charged as well. End the one you do not need in the billing portal, or ask for help.',
  })
  const message = `User ${userId} pays for a second subscription, ${ids.second}, besides ${ids.first ?? 'the first'}`
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
  return { ...event, userId, reference: { type: 'user', id: aboutId, model: 'User' }, options: {} }
}

function createPostNotification(
  postId: string,
  userId: string,
  event: Pick<NewNotification, 'dedupeKey' | 'type' | 'message' | 'options'>,
): NewNotification {
  return { ...event, userId, reference: { type: 'post', id: postId, model: 'Post' } }
}

function stepAfterFailure({ code }: Failure): string {
  return CONNECT[code] ? `${CONNECT[code]}, then retry the post` : (AFTER_FAILURE[code] ?? 'You can retry the post')
}

function stepBeforeDue({ code }: Failure): string {
  if (CONNECT[code]) return `${CONNECT[code]} before the post is due`
  return BEFORE_DUE[code] ?? 'It is tried again when the post is due'
}

/** The reason as a clause. What is said of a file names it, and file names are the user's words: they stay out of here. */
function describeCause({ code, message }: Failure): string {
  if (code === 'MEDIA_UNAVAILABLE') return 'A file of the post is missing, or is not what it was said to be'
  return trimFullStop(message)
}

/** The beginning of the post in quotation marks, with a space before; empty for a post without words. */
function quoteExcerpt(post: Post, platform?: Platform): string {
  const excerpt = toExcerpt(platform ? resolveContent(post, platform).text : post.content.text)
  return excerpt === '' ? '' : ` “${excerpt}”`
}

/** As `quoted`, behind a colon. */
function quoteAfterColon(post: Post, platform: Platform): string {
  const words = quoteExcerpt(post, platform)
  return words === '' ? '' : `:${words}`
}

function pickImage(post: Post, platform?: Platform): { image?: string } {
  const { mediaItems } = platform ? resolveContent(post, platform) : post.content
  const first = mediaItems.find(({ mimeType }) => mimeType.startsWith('image/'))
  return first && isHttp(first.storageUrl) ? { image: first.storageUrl } : {}
}

function toLinkOption(url: string): { link?: string } {
  return isHttp(url) ? { link: url } : {}
}

function isHttp(url: string): boolean {
  return /^https?:\/\//.test(url)
}
