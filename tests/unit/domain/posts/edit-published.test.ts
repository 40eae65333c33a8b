import { describe, expect, it } from 'vitest'
import { accept, refuse } from '../../../../src/domain/posts/delivery-moves.ts'
import { derivePostEvents } from '../../../../src/domain/events/post-events.ts'
import { listFailedChanges } from '../../../../src/domain/notifications/notifications.ts'
import {
  completeEdit,
  failEdit,
  findNextRevision,
  MAX_REVISIONS,
  requestEdit,
  toEditedPart,
} from '../../../../src/domain/posts/edit-published.ts'
import { failure } from '../../../../src/domain/posts/failure.ts'
import type { Content, Move, Post } from '../../../../src/domain/posts/post.ts'
import { POSTING_RULES } from '../../../../src/domain/posts/posting-rules.ts'
import { markRemoved, requestRemoval } from '../../../../src/domain/posts/take-back.ts'
import { deriveEvents } from '../../../../src/domain/posts/timeline.ts'
import type { Platform } from '../../../../src/domain/shared/platforms.ts'
import type { ServiceError } from '../../../../src/domain/shared/service-error.ts'
import { after, buildClaim, buildPost, T0 } from '../../../support/posts.ts'

const LATER = after(T0, 60_000)
const REFUSED = failure('permission', 'The login lacks a permission.')
const VIDEO = { storageKey: 'posts/u/a.mp4', storageUrl: 'https://media.test/a.mp4', mimeType: 'video/mp4' }

const publish = (platform: Platform): Move =>
  accept(platform, { platformPostId: platform, platformPostUrl: `https://${platform}.test/1` })
const apply = (post: Post, ...moves: Move[]) => moves.reduce((current, move) => move(current, T0), post)
const edit = (text: string, accountIds?: string[]): Move =>
  requestEdit({ text, requestedBy: 'user', accountIds, rulesOf: ({ platform }) => POSTING_RULES[platform] })

function buildPublished(selectedPlatforms: Platform[], content: Partial<Content> = {}): Post {
  const post = buildPost({ selectedPlatforms, content: { text: 'Before', mediaItems: [], ...content } })
  return apply(post, ...selectedPlatforms.map(publish))
}

function problemsOf(move: Move, post: Post) {
  try {
    move(post, T0)
  } catch (error) {
    const { code, errors = [] } = error as ServiceError
    return { code, problems: errors.map((one) => [one.platform, one.code]) }
  }
  throw new Error('It was not refused')
}

describe('a request to edit what is published', () => {
  it('is recorded with its text, its time and who made it', () => {
    const post = edit('After')(buildPublished(['mastodon']), LATER)
    expect(post).toMatchObject({ status: 'COMPLETED', changeDueAt: LATER })
    expect(post.platformStatuses[0]!.revisions).toEqual([
      { text: 'After', requestedAt: LATER, requestedBy: 'user', status: 'pending' },
    ])
  })

  it('changes nothing for the text that is published or requested already', () => {
    const post = buildPublished(['mastodon'])
    expect(edit('Before')(post, T0)).toBe(post)
    const requested = edit('After')(post, T0)
    expect(edit('After')(requested, LATER)).toBe(requested)
    const failed = failEdit('mastodon', 0, REFUSED)(requested, T0)
    expect(edit('After')(failed, LATER).platformStatuses[0]!.revisions).toHaveLength(2)
  })

  it('is refused for all accounts when the platform of one cannot edit', () => {
    const post = buildPublished(['mastodon', 'bluesky', 'threads'])
    expect(problemsOf(edit('After'), post)).toEqual({
      code: 'POST_NOT_EDITABLE',
      problems: [
        ['bluesky', 'PLATFORM_NOT_SUPPORTED'],
        ['threads', 'PLATFORM_NOT_SUPPORTED'],
      ],
    })
  })

  it.each<[Platform, Partial<Content>]>([
    ['facebook', { mediaItems: [VIDEO] }],
    ['mastodon', { options: { mastodon: { poll: { options: ['Yes', 'No'], expiresIn: 600 } } } }],
  ])('is refused on %s for what an edit there would damage', (platform, content) => {
    const post = buildPublished([platform], content)
    expect(problemsOf(edit('After'), post).problems).toEqual([[platform, 'PLATFORM_NOT_SUPPORTED']])
  })

  it('is refused while the post is sent, after it failed, and while it is taken back or gone', () => {
    const open = buildPost({ selectedPlatforms: ['mastodon'] })
    const claimed = buildClaim(open, 'mastodon', T0)(open, T0)
    const failed = refuse('mastodon', REFUSED, { round: 0, attempt: 1 })(claimed, T0)
    const removed = apply(buildPublished(['mastodon']), requestRemoval('user'))
    const gone = apply(removed, markRemoved('mastodon'))
    for (const post of [open, claimed, failed, gone]) {
      expect(problemsOf(edit('After'), post).problems).toEqual([['mastodon', 'NOT_PUBLISHED']])
    }
    expect(problemsOf(edit('After'), removed).problems).toEqual([['mastodon', 'BEING_REMOVED']])
    expect(problemsOf(edit('After', ['other']), removed).problems).toEqual([[undefined, 'NOT_PUBLISHED']])
  })

  it('is refused for a text that a platform does not take with the media that stay', () => {
    const post = buildPublished(['mastodon', 'tumblr'])
    const tooLong = { code: 'VALIDATION_FAILED', problems: [['mastodon', 'TEXT_TOO_LONG']] }
    expect(problemsOf(edit('x'.repeat(501)), post)).toEqual(tooLong)
    expect(problemsOf(edit(' '), buildPublished(['mastodon'])).problems).toEqual([['mastodon', 'TEXT_REQUIRED']])
  })

  it(`is refused after ${MAX_REVISIONS} edits, so that the history stays whole`, () => {
    const texts = Array.from({ length: MAX_REVISIONS }, (_, number) => edit(`Edit ${number}`))
    const post = apply(buildPublished(['tumblr']), ...texts)
    expect(problemsOf(edit('One more'), post).problems).toEqual([['tumblr', 'TOO_MANY_EDITS']])
  })

  it('is refused when the edits are too large to store', () => {
    const texts = Array.from({ length: 16 }, (_, number) => edit(`${number % 10}`.repeat(100_000)))
    const post = apply(buildPublished(['tumblr']), ...texts)
    expect(problemsOf(edit('x'.repeat(100_000)), post).problems).toEqual([[undefined, 'POST_TOO_LARGE']])
  })
})

describe('edits that are requested one after the other', () => {
  const requested = () => apply(buildPublished(['mastodon']), edit('One'), edit('Two'))
  const entryOf = (post: Post) => post.platformStatuses[0]!

  it('are made in that order', () => {
    const first = requested()
    expect(findNextRevision(entryOf(first))).toBe(0)
    const second = completeEdit('mastodon', 0)(first, LATER)
    expect(findNextRevision(entryOf(second))).toBe(1)
    const done = completeEdit('mastodon', 1)(second, LATER)
    expect([findNextRevision(entryOf(done)), done.changeDueAt]).toEqual([null, null])
    expect(completeEdit('mastodon', 1)(done, LATER)).toBe(done)
  })

  it('each have an event, also when a removal has ended one that the platform made', () => {
    const before = requested()
    const done = completeEdit('mastodon', 0)(before, LATER)
    expect(deriveEvents(before, done, LATER)).toMatchObject([{ type: 'outcome', result: 'edited' }])
    expect(derivePostEvents(before, done, LATER).map(({ type }) => type)).toEqual(['delivery.edited'])
    const removed = requestRemoval('user')(done, LATER)
    const late = completeEdit('mastodon', 1)(removed, LATER)
    expect(entryOf(late).revisions!.map(({ status }) => status)).toEqual(['completed', 'completed'])
    const ids = [derivePostEvents(before, done, LATER), derivePostEvents(removed, late, LATER)]
      .flat()
      .map(({ id }) => id)
    expect(new Set(ids).size).toBe(2)
  })

  it('warn of the last one only, unless a removal has ended it', () => {
    const failed = failEdit('mastodon', 0, REFUSED)(requested(), T0)
    expect(listFailedChanges(failed)).toEqual([])
    const message = expect.stringContaining('could not be edited on Mastodon')
    expect(listFailedChanges(failEdit('mastodon', 1, REFUSED)(failed, T0))).toMatchObject([
      { type: 'warning', kind: 'postWarning', message },
    ])
    expect(listFailedChanges(requestRemoval('user')(requested(), T0))).toEqual([])
  })
})

it('an edit replaces the text of the first post, and keeps what a platform joins to it', () => {
  const content = { text: 'One', mediaItems: [], segments: [{ text: 'Two', mediaItems: [] }] }
  const post = buildPublished(['mastodon', 'tumblr'], content)
  const texts = post.platformStatuses.map((entry) => toEditedPart(post, entry, 'New').part.content.text)
  expect(texts).toEqual(['New', 'New\n\nTwo'])
})
