import { describe, expect, it } from 'vitest'
import { findOptionProblems } from '../../../../src/domain/posts/option-problems.ts'
import { parseBlueskyPost, toMeasuredText, type PlatformOptions } from '../../../../src/domain/posts/options.ts'
import type { MediaItem } from '../../../../src/domain/posts/post.ts'
import { POSTING_RULES } from '../../../../src/domain/posts/posting-rules.ts'
import type { Platform } from '../../../../src/domain/shared/platforms.ts'

const IMAGE: MediaItem = { storageKey: 'posts/a/1.png', storageUrl: 'https://media.test/1.png', mimeType: 'image/png' }
const POLL = { options: ['Yes', 'No'], expiresIn: 3_600 }

function findProblems(
  platform: Platform,
  options: PlatformOptions,
  content: { text?: string; mediaItems?: MediaItem[] } = {},
) {
  const stated = { text: 'Hello', mediaItems: [], ...content, options }
  return findOptionProblems(platform, stated, POSTING_RULES[platform]).map(({ path, code }) => [path, code])
}
const findPollProblems = (poll: object, content = {}) =>
  findProblems('mastodon', { mastodon: { poll: { ...POLL, ...poll } } }, content)

describe('a poll', () => {
  it.each([
    ['the fewest options and the shortest time', { expiresIn: 300 }],
    ['the most options and the longest time', { options: ['1', '2', '3', '4'], expiresIn: 2_629_746 }],
    [
      'an option of 50 characters, however they are encoded',
      { options: ['\u{1f468}\u200d\u{1f469}'.repeat(50), 'No'] },
    ],
  ])('is accepted with %s', (_, poll) => {
    expect(findPollProblems(poll)).toEqual([])
  })

  it.each([
    ['one option', { options: ['Yes'] }, '.options', 'POLL_OPTIONS'],
    ['too many options', { options: ['1', '2', '3', '4', '5'] }, '.options', 'POLL_OPTIONS'],
    ['equal options', { options: ['Yes', ' Yes '] }, '.options', 'POLL_OPTIONS'],
    ['an empty option', { options: ['Yes', ' '] }, '.options', 'POLL_OPTIONS'],
    ['a long option', { options: ['Yes', 'x'.repeat(51)] }, '.options', 'POLL_OPTION_TOO_LONG'],
    ['too short a time', { expiresIn: 299 }, '.expiresIn', 'POLL_TIME'],
    ['too long a time', { expiresIn: 2_629_747 }, '.expiresIn', 'POLL_TIME'],
  ])('is refused with %s', (_, poll, field, code) => {
    expect(findPollProblems(poll)).toEqual([[`mastodon.poll${field}`, code]])
  })

  it.each(['mastodon', 'threads'] as const)('is refused on %s beside media and without a text', (platform) => {
    const options = { [platform]: { poll: POLL } }
    const path = `${platform}.poll`
    expect(findProblems(platform, options, { mediaItems: [IMAGE] })).toEqual([[path, 'POLL_WITH_MEDIA']])
    expect(findProblems(platform, options, { text: ' ' })).toEqual([[path, 'TEXT_REQUIRED']])
  })

  it('has on Threads options of 25 characters, an emoji counted by its bytes, and no time', () => {
    const findWith = (option: string) => findProblems('threads', { threads: { poll: { options: ['Yes', option] } } })
    expect(findWith('x'.repeat(25))).toEqual([])
    for (const option of ['x'.repeat(26), `${'x'.repeat(22)}\u{1f600}`]) {
      expect(findWith(option)).toEqual([['threads.poll.options', 'POLL_OPTION_TOO_LONG']])
    }
  })
})

describe('the options of Bluesky', () => {
  it.each([
    [{ quoteUrl: 'https://example.com/post' }, ['bluesky.quoteUrl', 'URL_INVALID']],
    [{ replyGate: ['none', 'mentioned'] as const }, ['bluesky.replyGate', 'REPLY_GATE']],
  ])('are refused where they say nothing that it can do: %j', (bluesky, problem) => {
    expect(findProblems('bluesky', { bluesky: bluesky as NonNullable<PlatformOptions['bluesky']> })).toEqual([problem])
  })

  it.each([
    ['https://bsky.app/profile/ann.test/post/3k2a', { author: 'ann.test', key: '3k2a' }],
    [' at://did:plc:ann/app.bsky.feed.post/3k2a ', { author: 'did:plc:ann', key: '3k2a' }],
    ['https://bsky.app/profile/ann.test', null],
    ['https://bsky.app/profile/ann.test/post/3k2a/liked-by', null],
    ['at://did:plc:ann/app.bsky.feed.like/3k2a', null],
  ])('quote the post with an address of the web or of the protocol: %s', (address, quoted) => {
    expect(parseBlueskyPost(address)).toEqual(quoted)
  })
})

describe('the options of Instagram', () => {
  const VIDEO: MediaItem = { ...IMAGE, storageKey: 'posts/a/1.mp4', mimeType: 'video/mp4', duration: 10 }
  const at = { x: 0.5, y: 1 }
  type InstagramOptions = NonNullable<PlatformOptions['instagram']>

  it.each<[string, InstagramOptions, MediaItem[]]>([
    ['a reel', { kind: 'reel', coverAt: 10, shareToFeed: false, collaborators: ['ann'] }, [VIDEO]],
    ['a video without a kind', { coverAt: 0, userTags: [{ username: 'ann' }] }, [VIDEO]],
    ['a picture', { kind: 'feed', collaborators: ['ann'], userTags: [{ username: 'ann', ...at }] }, [IMAGE]],
    ['a carousel', { kind: 'feed', userTags: [{ username: 'ann', mediaItem: 1, ...at }] }, [VIDEO, IMAGE]],
    ['a story', { kind: 'story', userTags: [{ username: 'ann' }, { username: 'bob', ...at }] }, [VIDEO]],
  ])('are accepted for %s', (_, instagram, mediaItems) => {
    expect(findProblems('instagram', { instagram }, { mediaItems })).toEqual([])
  })

  it.each<[string, InstagramOptions, MediaItem[], string, string]>([
    ['a single video in the feed', { kind: 'feed' }, [VIDEO], 'kind', 'OPTION_KIND'],
    ['a cover of a picture', { coverAt: 1 }, [IMAGE], 'coverAt', 'OPTION_KIND'],
    ['a cover of a story', { kind: 'story', coverAt: 1 }, [VIDEO], 'coverAt', 'OPTION_KIND'],
    ['a cover after the end', { coverAt: 10.5 }, [VIDEO], 'coverAt', 'COVER_TIME'],
    ['a carousel in the feed', { shareToFeed: true }, [VIDEO, IMAGE], 'shareToFeed', 'OPTION_KIND'],
    ['collaborators of a story', { kind: 'story', collaborators: ['a'] }, [IMAGE], 'collaborators', 'OPTION_KIND'],
    ['a tag without a place', { userTags: [{ username: 'a', x: 0 }] }, [IMAGE], 'userTags.0', 'USER_TAG'],
    ['a tag on no item', { userTags: [{ username: 'a', mediaItem: 1, ...at }] }, [IMAGE], 'userTags.0', 'USER_TAG'],
    ['a tag with a place in a reel', { userTags: [{ username: 'a', ...at }] }, [VIDEO], 'userTags.0', 'USER_TAG'],
    ['a tag in a video of a carousel', { userTags: [{ username: 'a' }] }, [VIDEO, IMAGE], 'userTags.0', 'USER_TAG'],
    ['half a place', { kind: 'story', userTags: [{ username: 'a', y: 0 }] }, [IMAGE], 'userTags.0', 'USER_TAG'],
  ])('are refused for %s', (_, instagram, mediaItems, field, code) => {
    expect(findProblems('instagram', { instagram }, { mediaItems })).toEqual([[`instagram.${field}`, code]])
  })
})

it('only the options of its own platform are checked', () => {
  const options: PlatformOptions = {
    mastodon: { poll: { options: [], expiresIn: 1 } },
    bluesky: { quoteUrl: 'none', replyGate: ['none', 'following'] },
    threads: { poll: { options: [] } },
  }
  for (const platform of ['instagram', 'facebook', 'tumblr'] as const) {
    expect(findProblems(platform, options)).toEqual([])
  }
  expect(findProblems('bluesky', options).every(([path]) => path!.startsWith('bluesky.'))).toBe(true)
})

it('a content warning counts in the length of a text on Mastodon only', () => {
  const options = { mastodon: { spoilerText: 'Spoiler' } }
  expect(toMeasuredText('mastodon', 'Text', options)).toBe('SpoilerText')
  expect(toMeasuredText('bluesky', 'Text', options)).toBe('Text')
  expect(toMeasuredText('mastodon', 'Text')).toBe('Text')
})
