import { describe, expect, it } from 'vitest'
import { derivePostEvents } from '../../../../src/domain/events/post-events.ts'
import { addNotifications } from '../../../../src/domain/notifications/post-notifications.ts'
import { listFailedChanges } from '../../../../src/domain/notifications/notifications.ts'
import { accept, defer, giveUp, refuse } from '../../../../src/domain/posts/delivery-moves.ts'
import { failure } from '../../../../src/domain/posts/failure.ts'
import { cancel, retry } from '../../../../src/domain/posts/post-moves.ts'
import type { Move, Post } from '../../../../src/domain/posts/post.ts'
import { failRemoval, requestRemoval } from '../../../../src/domain/posts/take-back.ts'
import { after, buildPost, T0 } from '../../../support/posts.ts'

/** Returns the events of these moves with the keys of their notifications. */
function notify(post: Post, ...moves: Move[]) {
  let before = post
  return moves.flatMap((move) => {
    const after = move(before, T0)
    const events = addNotifications(derivePostEvents(before, after, T0), after)
    before = after
    return events.map(({ type, notification }) => [type, notification?.dedupeKey])
  })
}

const accepted = accept('bluesky', { platformPostId: 'at://one', platformPostUrl: 'https://bsky.test/one' })
const lost = (round: number) => giveUp('mastodon', failure('INTERNAL', 'lost'), round)

it('each ended delivery notifies the owner with its event, and the end of their post adds nothing', () => {
  const post = buildPost({ selectedPlatforms: ['bluesky', 'mastodon'] })
  expect(notify(post, accepted, accepted, lost(0), retry(), lost(1))).toEqual([
    ['delivery.accepted', `post-published:${post._id}:bluesky`],
    ['delivery.failed', `post-failed:${post._id}:mastodon:0`],
    ['post.partial', undefined],
    ['delivery.failed', `post-failed:${post._id}:mastodon:1`],
    ['post.partial', undefined],
  ])
})

it('the notification of a published post repeats what the platform has left out', () => {
  const warning = 'Mastodon published the post without its images and videos.'
  const published = { platformPostId: '1', platformPostUrl: 'https://mastodon.test/1', warning }
  const post = buildPost({ content: { text: 'Words', mediaItems: [] }, selectedPlatforms: ['mastodon'] })
  const after = accept('mastodon', published)(post, T0)
  expect(after.platformStatuses[0]).toMatchObject({ status: 'completed', warning })
  const [event] = addNotifications(derivePostEvents(post, after, T0), after)
  expect(event!.notification!.message).toBe(`Successfully posted on mastodon: “Words”. ${warning}`)
})

it('a cancel has no notification', () => {
  expect(notify(buildPost(), cancel())).toEqual([['post.cancelled', undefined]])
})

describe('a failed removal', () => {
  const post = buildPost({ selectedPlatforms: ['mastodon', 'instagram'] })
  const publish = (platform: 'mastodon' | 'instagram') =>
    accept(platform, { platformPostId: platform, platformPostUrl: `https://${platform}.test/1` })
  const published = publish('instagram')(publish('mastodon')(post, T0), T0)
  const fail = (code: 'permission' | 'not_found' | 'PLATFORM_NOT_CONNECTED', message: string) =>
    listFailedChanges(failRemoval('mastodon', failure(code, message))(requestRemoval('user')(published, T0), T0))

  it('is one warning per account and request, with a link to the post', () => {
    const requested = requestRemoval('user')(published, T0)
    expect(listFailedChanges(requested)).toMatchObject([
      {
        dedupeKey: `removal-failed:${post._id}:instagram:${T0.getTime()}`,
        ...{ kind: 'postWarning', type: 'warning', options: { link: 'https://instagram.test/1' } },
        message:
          'Your post “Hello” could not be removed from Instagram: Instagram lets no program delete posts. Delete it in the Instagram app.',
      },
    ])
    const again = requestRemoval('user')(requested, after(T0, 1))
    expect(listFailedChanges(again)[0]!.dedupeKey).not.toBe(listFailedChanges(requested)[0]!.dedupeKey)
  })

  it.each([
    [
      'permission',
      'The login may not do this.',
      '. Reconnect the account with all permissions, then take the post back again.',
    ],
    ['not_found', 'No such post', 'No such post. Delete it in the Mastodon app.'],
    ['PLATFORM_NOT_CONNECTED', 'Not connected. Connect it.', ': Not connected. Connect it.'],
  ] as const)('says what to do after %s', (code, message, end) => {
    const [warning] = fail(code, message)
    expect(warning!.message.endsWith(end), warning!.message).toBe(true)
  })
})

describe('a thread with a first comment', () => {
  const content = { text: 'One', mediaItems: [], segments: [{ text: 'Two', mediaItems: [] }], firstComment: 'Below' }
  const published = (index: number) =>
    accept('bluesky', { platformPostId: `${index}`, platformPostUrl: 'https://bsky.test/1' }, index)
  const REFUSED = failure('permission', 'The login lacks a permission.')
  const at = (part: number) => ({ round: 0, attempt: 0, part })

  /** Returns the notifications of the last of these moves. */
  function notifyOfLast(...moves: Move[]) {
    const posts = moves.reduce(
      (all, move) => [...all, move(all.at(-1)!, T0)],
      [buildPost({ content, chosen: [{ platform: 'bluesky', accountId: 'a' }] })],
    )
    const events = addNotifications(derivePostEvents(posts.at(-2)!, posts.at(-1)!, T0), posts.at(-1)!)
    return events.flatMap(({ notification }) => notification ?? [])
  }

  it.each([
    [0, 'post 1 of the thread: The platform is down. None of the 2 posts is published. You can retry the post.'],
    [
      1,
      'post 2 of the thread: The platform is down. 1 of 2 posts of the thread is published. Retry the post to publish the rest.',
    ],
  ])('that fails after %i posts says at which post, and what is published', (count, end) => {
    const moves = [published(0)].slice(0, count)
    const [failed] = notifyOfLast(...moves, refuse('bluesky', failure('transient', 'The platform is down.'), at(count)))
    expect(failed).toMatchObject({ type: 'error', message: `Posting “One” on Bluesky failed at ${end}` })
  })

  it.each([
    ['transient', 'Retry the post to publish only the comment'],
    ['unauthorized', 'Reconnect the account in settings, then retry the post'],
    ['validation', 'Write the comment on the platform'],
    ['OUTCOME_UNKNOWN', 'Check the platform, and retry the post only if the comment is not there'],
  ] as const)('whose comment fails with %s is reported once, as a warning with the next step', (code, step) => {
    const refused = refuse('bluesky', failure(code, 'The platform refused it.'), at(2))
    expect(notifyOfLast(published(0), published(1), refused)).toMatchObject([
      {
        type: 'warning',
        dedupeKey: expect.stringContaining('post-published:'),
        message: `Your post “One” is published on Bluesky, but its first comment failed: The platform refused it. ${step}.`,
        options: { link: 'https://bsky.test/1' },
      },
    ])
  })

  it('whose comment the user cancels is published', () => {
    const [notified] = notifyOfLast(
      ...[published(0), published(1)],
      defer('bluesky', REFUSED, at(2), { at: T0, countsAsTry: true }),
      cancel(['a']),
    )
    expect(notified).toMatchObject({ type: 'success' })
  })
})
