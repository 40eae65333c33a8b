import { describe, expect, it } from 'vitest'
import { FAILURE_CODES, failure, type FailureCode } from '../../src/domain/failure.ts'
import type { BillingNews } from '../../src/domain/billing-rule.ts'
import {
  billingChanged,
  connectionExpired,
  postCreated,
  postFailed,
  postPublished,
  preparationFailed,
  secondSubscription,
} from '../../src/domain/notifications.ts'
import { buildEvent, buildSubscription, buildUser, look } from '../support/billing.ts'
import { after, buildPost, T0 } from '../support/posts.ts'

const MARKUP = '<img src=x onerror=alert(1)>'
const image = {
  storageKey: 'posts/ann/1.png',
  storageUrl: 'https://storage.example/1.png',
  mimeType: 'image/png',
  originalFilename: `${MARKUP}.png`,
  altText: MARKUP,
}
const post = buildPost({ content: { text: MARKUP, mediaItems: [image] } })
const of = (code: FailureCode) => failure(code, 'The platform said no.')

describe('notifications (contract section 9)', () => {
  it('say that a post is pending, or scheduled and for when', () => {
    const scheduledAt = after(T0, 60_000)
    expect(postCreated(post)).toMatchObject({ type: 'success', message: 'Your post was created and is now pending' })
    expect(postCreated(buildPost({ scheduledAt })).message).toBe(
      'Your post was created and is now scheduled for 2026-03-01T12:01:00.000Z',
    )
  })

  it('name the platform that accepted, with a link to the post there and its first image', () => {
    expect(postPublished(post, 'bluesky', 'https://bsky.app/x')).toMatchObject({
      type: 'success',
      message: 'Successfully posted on bluesky',
      reference: { type: 'post', id: post._id, model: 'Post' },
      options: { link: 'https://bsky.app/x', image: image.storageUrl },
    })
  })

  it('link and show nothing but http and https', () => {
    const local = { ...image, storageUrl: 'file:///etc/passwd' }
    const odd = buildPost({ content: { text: '', mediaItems: [local] } })
    expect(postPublished(odd, 'bluesky', 'javascript:alert(1)').options).toEqual({})
  })

  it.each([
    ['unauthorized', 'Reconnect the account in settings, then retry the post'],
    ['PLATFORM_NOT_CONNECTED', 'Connect the account in settings, then retry the post'],
    ['PLATFORM_NOT_SUPPORTED', 'Retry the post once the platform is set up'],
    ['OUTCOME_UNKNOWN', 'Look at the platform, and retry only if the post is not there'],
    ['validation', 'Create a changed post'],
    ['TOO_LATE', 'You can retry the post'],
  ] as const)('name platform, cause and next step when a delivery failed: %s', (code, step) => {
    expect(postFailed(post, 'bluesky', 0, of(code))).toMatchObject({
      type: 'error',
      message: `Posting on Bluesky failed: The platform said no. ${step}.`,
    })
  })

  it.each([
    ['unauthorized', 'Reconnect the account in settings before the post is due'],
    ['PLATFORM_NOT_CONNECTED', 'Connect the account in settings before the post is due'],
    ['validation', 'Change the post before it is due'],
    ['INTERNAL', 'It is tried again when the post is due'],
  ] as const)('warn ahead with what can still be done: %s', (code, step) => {
    expect(preparationFailed(post, 'bluesky', 0, of(code))).toMatchObject({
      type: 'warning',
      message: `Your scheduled post may fail on Bluesky: The platform said no. ${step}.`,
    })
  })

  it('advise no retry of a post that is not yet due, whatever the reason', () => {
    for (const code of FAILURE_CODES) {
      expect(preparationFailed(post, 'bluesky', 0, of(code)).message).not.toMatch(/retry/i)
    }
  })

  it("never carry the user's words, the names of files among them", () => {
    const reason = failure('MEDIA_UNAVAILABLE', `The file ${image.originalFilename} was never uploaded, or is gone`)
    const all = [
      postCreated(post),
      postPublished(post, 'bluesky', 'https://bsky.app/x'),
      postFailed(post, 'bluesky', 0, reason),
      preparationFailed(post, 'bluesky', 0, reason),
      connectionExpired(post.userId, 'bluesky', 1),
    ]
    expect(JSON.stringify(all)).not.toContain('<')
    expect(postFailed(post, 'bluesky', 0, reason).message).toMatch(
      /: A file of the post is missing, .* Upload the file/,
    )
  })

  it('are one a platform and round', () => {
    const keys = [0, 1].map((round) => postFailed(post, 'bluesky', round, of('transient')).dedupeKey)
    expect(new Set([...keys, postFailed(post, 'threads', 0, of('transient')).dedupeKey])).toHaveLength(3)
    expect(postFailed(post, 'bluesky', 0, of('validation')).dedupeKey).toBe(keys[0])
  })
})

describe('notifications of payments', () => {
  const { user } = look(buildUser(), { subscriptions: [buildSubscription()] }, buildEvent())

  it.each<[Exclude<BillingNews['kind'], 'secondSubscription'>, string, RegExp]>([
    ['planChanged', 'success', /on the Pro plan now: 60 posts and 30 caption generations$/],
    ['paymentFailed', 'warning', /did not go through\. .*stays on Pro for now: check your payment method/],
    ['paymentRecovered', 'success', /went through/],
    ['planEnding', 'info', /ends on 2026-03-31\. You can resume it/],
    ['planContinues', 'success', /goes on/],
  ])('say what happened and what to do, and link nowhere: %s', (kind, type, message) => {
    const told = billingChanged(kind, user, 'change-1')
    expect(told).toMatchObject({ userId: user._id, type, options: {} })
    expect(told.message).toMatch(message)
    expect(told.message).not.toMatch(/https?:/)
  })

  it('are one a change and kind', () => {
    const keys = ['change-1', 'change-2'].flatMap((id) => [
      billingChanged('planChanged', user, id).dedupeKey,
      billingChanged('planEnding', user, id).dedupeKey,
    ])
    expect(new Set(keys)).toHaveLength(4)
  })

  it('tell user and admins of a second subscription, whoever is both, once each and by ids alone', () => {
    const { _id: userId } = user
    const told = secondSubscription(userId, { first: 'sub_1', second: 'sub_2' }, [userId, 'admin_1'])
    expect(told.map((one) => one.userId)).toEqual([userId, userId, 'admin_1'])
    expect(new Set(told.map(({ dedupeKey }) => dedupeKey))).toHaveLength(3)
    expect(told[2]!.message).toBe(`User ${userId} pays for a second subscription, sub_2, besides sub_1`)
    expect(JSON.stringify(told)).not.toContain(user.email)
  })
})
