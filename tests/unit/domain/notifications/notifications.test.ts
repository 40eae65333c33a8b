import { describe, expect, it } from 'vitest'
import { FAILURE_CODES, failure, type FailureCode } from '../../../../src/domain/posts/failure.ts'
import type { BillingEvent } from '../../../../src/domain/billing/billing-update.ts'
import {
  billingChanged,
  connectionEnding,
  connectionExpired,
  findMostSerious,
  planChanged,
  postCreated,
  postFailed,
  postPublished,
  preparationFailed,
  secondSubscription,
  toMailKey,
} from '../../../../src/domain/notifications/notifications.ts'
import { createPlatformStatus } from '../../../../src/domain/posts/post-entries.ts'
import type { Platform } from '../../../../src/domain/shared/platforms.ts'
import { buildEvent, buildSubscription, buildUser, syncBilling } from '../../../support/billing.ts'
import { newNotification } from '../../../support/notifications.ts'
import { after, buildPost, T0 } from '../../../support/posts.ts'

const MARKUP = '<img src=x onerror=alert(1)>'
const image = {
  storageKey: 'posts/ann/1.png',
  storageUrl: 'https://storage.example/1.png',
  mimeType: 'image/png',
  originalFilename: `${MARKUP}.png`,
  altText: MARKUP,
}
const post = buildPost({ content: { text: MARKUP, mediaItems: [image] } })
const toContent = (text: string) => ({ text, mediaItems: [] })
const buildFailure = (code: FailureCode) => failure(code, 'The platform refused it.')

describe('notifications of posts', () => {
  it('a notification states whether a new post is pending or when it is scheduled', () => {
    const scheduledAt = after(T0, 60_000)
    expect(postCreated(post, 'UTC')).toMatchObject({
      type: 'success',
      message: 'Your post was created and is now pending',
    })
    expect(postCreated(buildPost({ scheduledAt, content: toContent('Hello') }), 'Asia/Kolkata').message).toBe(
      'Your post “Hello” was created and is now scheduled for 1 March 2026, 17:31 (Asia/Kolkata)',
    )
  })

  it('a notification of a published post has its platform, link and first image', () => {
    expect(postPublished(post, createPlatformStatus('bluesky'), 'https://bsky.app/x')).toMatchObject({
      type: 'success',
      message: 'Successfully posted on bluesky',
      reference: { type: 'post', id: post._id, model: 'Post' },
      options: { link: 'https://bsky.app/x', image: image.storageUrl },
    })
  })

  it('a post that was deleted meanwhile is reported as published without its content', () => {
    const { message, options } = postPublished(
      { _id: 'post-1', userId: 'ann' },
      createPlatformStatus('mastodon'),
      'https://m.example/1',
    )
    expect(message).toBe('Successfully posted on mastodon')
    expect(options).toEqual({ link: 'https://m.example/1' })
  })

  it('notifications link only to http and https URLs', () => {
    const local = { ...image, storageUrl: 'file:///etc/passwd' }
    const odd = buildPost({ content: { text: '', mediaItems: [local] } })
    expect(postPublished(odd, createPlatformStatus('bluesky'), 'javascript:alert(1)').options).toEqual({})
  })

  it.each([
    ['unauthorized', 'Reconnect the account in settings, then retry the post'],
    ['PLATFORM_NOT_CONNECTED', 'Connect the account in settings, then retry the post'],
    ['PLATFORM_NOT_SUPPORTED', 'Retry the post once the platform is set up'],
    ['OUTCOME_UNKNOWN', 'Check the platform, and retry only if the post is not there'],
    ['validation', 'Create a changed post'],
    ['TOO_LATE', 'You can retry the post'],
  ] as const)('a failed delivery is reported with platform, cause and next step: %s', (code, step) => {
    expect(postFailed(post, createPlatformStatus('bluesky'), buildFailure(code))).toMatchObject({
      type: 'error',
      message: `Posting on Bluesky failed: The platform refused it. ${step}.`,
    })
  })

  it.each([
    ['unauthorized', 'Reconnect the account in settings before the post is due'],
    ['PLATFORM_NOT_CONNECTED', 'Connect the account in settings before the post is due'],
    ['validation', 'Change the post before it is due'],
    ['INTERNAL', 'The service retries when the post is due'],
  ] as const)('an early warning names the step that can still help: %s', (code, step) => {
    expect(preparationFailed(post, createPlatformStatus('bluesky'), buildFailure(code))).toMatchObject({
      type: 'warning',
      message: `Your scheduled post may fail on Bluesky: The platform refused it. ${step}.`,
    })
  })

  it('an early warning never suggests a retry', () => {
    for (const code of FAILURE_CODES) {
      expect(preparationFailed(post, createPlatformStatus('bluesky'), buildFailure(code)).message).not.toMatch(/retry/i)
    }
  })

  it('notifications quote at most 60 characters of the text for that platform', () => {
    const text = `<b>Big</b>\u0007 news\n\u202efrom ${'x'.repeat(500)}`
    const odd = buildPost({
      content: toContent(text),
      platformSpecificContent: { threads: { text: 'In other words' } },
    })
    const excerpt = `“Big news from ${'x'.repeat(45)}…”`
    expect(postPublished(odd, createPlatformStatus('bluesky'), 'https://bsky.app/x').message).toBe(
      `Successfully posted on bluesky: ${excerpt}`,
    )
    expect(postPublished(odd, createPlatformStatus('threads'), 'https://t').message).toBe(
      'Successfully posted on threads: “In other words”',
    )
    expect(postFailed(odd, createPlatformStatus('bluesky'), buildFailure('TOO_LATE')).message).toContain(
      `Posting ${excerpt} on Bluesky failed: `,
    )
    expect(preparationFailed(odd, createPlatformStatus('bluesky'), buildFailure('TOO_LATE')).message).toContain(
      `post ${excerpt} may fail on Bluesky`,
    )
  })

  it('notifications never quote half a character or an invisible text', () => {
    const emoji = buildPost({ content: toContent('👍🏽'.repeat(40)) })
    expect(postCreated(emoji, 'UTC').message).toBe(`Your post “${'👍🏽'.repeat(14)}…” was created and is now pending`)
    const invisible = buildPost({ content: toContent(` \u200b<br>${'<i>'.repeat(400)}`) })
    expect(postCreated(invisible, 'UTC').message).toBe('Your post was created and is now pending')
  })

  describe('posts for several accounts', () => {
    const onBluesky = (accountName: string, target?: string) =>
      createPlatformStatus('bluesky', { accountName, ...(target && { target }) })
    const entries = [
      onBluesky('ann.test'),
      onBluesky('<i>brand.test</i>', 'account-2'),
      createPlatformStatus('threads'),
    ]
    const several = { ...post, platformStatuses: entries }

    it('the account is named where the platform alone does not say which one it is', () => {
      const places = entries.map((entry) => postFailed(several, entry, buildFailure('TOO_LATE')).message)
      expect(places.map((message) => /on (.*) failed/.exec(message)![1])).toEqual([
        'Bluesky (ann.test)',
        'Bluesky (brand.test)',
        'Threads',
      ])
      expect(postPublished(several, entries[1]!, 'https://bsky.app/x').message).toBe(
        'Successfully posted on bluesky (brand.test)',
      )
      expect(
        connectionExpired({ userId: 'u', platform: 'bluesky', version: 1, accountName: 'ann.test' }).message,
      ).toMatch('Your Bluesky connection of ann.test has expired.')
    })

    it('connections that end on the same day each have a warning', () => {
      const ending = (accountId: string) =>
        connectionEnding({ userId: 'u', platform: 'threads', accountId, timezone: 'UTC' }, new Date(0)).dedupeKey
      expect(ending('a')).not.toBe(ending('b'))
    })
  })

  it('notifications contain no markup and no file names', () => {
    const reason = failure(
      'MEDIA_UNAVAILABLE',
      `The file “${image.originalFilename}” was never uploaded, or is gone. Upload it again.`,
    )
    const all = [
      postCreated(post, 'UTC'),
      postPublished(post, createPlatformStatus('bluesky'), 'https://bsky.app/x'),
      postFailed(post, createPlatformStatus('bluesky'), reason),
      preparationFailed(post, createPlatformStatus('bluesky'), reason),
      connectionExpired({ userId: post.userId, platform: 'bluesky', version: 1, accountName: '<b>ann</b>' }),
    ]
    expect(JSON.stringify(all)).not.toContain('<')
    expect(postFailed(post, createPlatformStatus('bluesky'), reason).message).toMatch(
      /: A file of the post was never uploaded, or is gone\. Upload the file/,
    )
  })

  it('each entry and round has one notification', () => {
    const inRound = (platform: Platform, round: number) => {
      const entry = createPlatformStatus(platform)
      return { ...entry, delivery: { ...entry.delivery, round } }
    }
    const keys = [0, 1].map((round) => postFailed(post, inRound('bluesky', round), buildFailure('transient')).dedupeKey)
    expect(
      new Set([...keys, postFailed(post, createPlatformStatus('threads'), buildFailure('transient')).dedupeKey]),
    ).toHaveLength(3)
    expect(postFailed(post, createPlatformStatus('bluesky'), buildFailure('validation')).dedupeKey).toBe(keys[0])
    const second = { ...createPlatformStatus('bluesky'), target: 'account-2' }
    expect(keys).not.toContain(postFailed(post, second, buildFailure('transient')).dedupeKey)
  })
})

describe('notifications of payments', () => {
  const { user } = syncBilling(buildUser(), { subscriptions: [buildSubscription()] }, buildEvent())

  it.each<[Exclude<BillingEvent['kind'], 'secondSubscription'>, string, RegExp]>([
    ['planChanged', 'success', /is now on the Pro plan: 60 posts and 30 caption generations\. No action is needed\.$/],
    ['paymentFailed', 'warning', /failed\. .*stays on Pro for now\. Check your payment method/],
    ['paymentRecovered', 'success', /went through/],
    ['planEnding', 'info', /ends on 31 March 2026\. You can resume it/],
    ['planContinues', 'success', /continues and renews/],
  ])('a payment notification names the event and the next step without a link: %s', (kind, type, message) => {
    const notification = billingChanged(kind, user, 'change-1')
    expect(notification).toMatchObject({ userId: user._id, type, options: {} })
    expect(notification.message).toMatch(message)
    expect(notification.message).not.toMatch(/https?:/)
  })

  it('a user on the Free plan learns the plan and its allowance', () => {
    expect(planChanged(buildUser(), 'change-1')).toMatchObject({
      type: 'info',
      message: 'Your account is now on the Free plan: 30 posts and 15 caption generations. No action is needed.',
    })
  })

  it('each change and kind has one notification', () => {
    const keys = ['change-1', 'change-2'].flatMap((id) => [
      billingChanged('planChanged', user, id).dedupeKey,
      billingChanged('planEnding', user, id).dedupeKey,
    ])
    expect(new Set(keys)).toHaveLength(4)
  })

  it('a second subscription is reported once to the user and once to each admin, by ids only', () => {
    const { _id: userId } = user
    const notifications = secondSubscription(userId, { first: 'sub_1', second: 'sub_2' }, [userId, 'admin_1'])
    expect(notifications.map((notification) => notification.userId)).toEqual([userId, userId, 'admin_1'])
    expect(new Set(notifications.map(({ dedupeKey }) => dedupeKey))).toHaveLength(3)
    expect(notifications[2]!.message).toBe(
      `User ${userId} pays for a second subscription, sub_2, in addition to sub_1. Help the user cancel one.`,
    )
    expect(JSON.stringify(notifications)).not.toContain(user.email)
  })
})

it('notifications of a post share a mail per kind, and others have one each', () => {
  const reference = { type: 'post', id: 'p', model: 'Post' }
  const keyOf = (changes: object) => toMailKey(newNotification('ann', { reference, ...changes }))
  expect(keyOf({ kind: 'postFailed' })).toBe(keyOf({ kind: 'postFailed' }))
  expect(keyOf({ kind: 'postFailed' })).not.toBe(keyOf({ kind: 'postWarning' }))
  const account = { type: 'platform', id: 'mastodon', model: 'PlatformAccount' }
  expect(keyOf({ reference: account })).not.toBe(keyOf({ reference: account }))
})

it.each([
  [['success', 'error', 'warning'], 'error'],
  [['info', 'warning'], 'warning'],
  [['success', 'info'], 'info'],
  [['success'], 'success'],
] as const)('the most serious of %j is %s', (types, expected) => {
  expect(findMostSerious(types)).toBe(expected)
})

it('each notification has the kind by which its user can switch it off', () => {
  const entry = createPlatformStatus('mastodon')
  const connection = { userId: 'ann', platform: 'mastodon', version: 1 } as const
  const kinds = [
    postCreated(post, 'UTC'),
    postPublished(post, entry, 'https://m.example/1'),
    postFailed(post, entry, buildFailure('validation')),
    preparationFailed(post, entry, buildFailure('validation')),
    connectionExpired(connection),
    connectionEnding({ ...connection, accountId: 'a', timezone: 'UTC' }, T0),
    planChanged(buildUser(), 'x'),
  ].map(({ kind }) => kind)
  expect(kinds).toEqual([
    ...['postCreated', 'postPublished', 'postFailed', 'postWarning', 'accountLogin', 'accountLogin', 'billing'],
  ])
})
