import { expect, it } from 'vitest'
import { derivePostEvents } from '../../../../src/domain/events/post-events.ts'
import { addNotifications } from '../../../../src/domain/notifications/post-notifications.ts'
import { accept, giveUp } from '../../../../src/domain/posts/delivery-moves.ts'
import { failure } from '../../../../src/domain/posts/failure.ts'
import { cancel, retry } from '../../../../src/domain/posts/post-moves.ts'
import type { Move, Post } from '../../../../src/domain/posts/post.ts'
import { buildPost, T0 } from '../../../support/posts.ts'

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
