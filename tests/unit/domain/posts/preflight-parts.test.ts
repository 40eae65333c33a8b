import { describe, expect, it } from 'vitest'
import { findFailedPost, toParts } from '../../../../src/domain/posts/parts.ts'
import { createPlatformStatus } from '../../../../src/domain/posts/post-entries.ts'
import type { Content, Segment } from '../../../../src/domain/posts/post.ts'
import { preflight, type PreflightInput } from '../../../../src/domain/posts/preflight.ts'
import type { Platform } from '../../../../src/domain/shared/platforms.ts'
import { toPreflightTarget } from '../../../support/preflight-target.ts'

const image = (name: string, more = {}) => ({
  storageKey: name,
  storageUrl: `https://s.test/${name}`,
  mimeType: 'image/png',
  ...more,
})
const segment = (text: string, ...mediaItems: Segment['mediaItems']): Segment => ({ text, mediaItems })
const content = (more: Partial<Content> = {}): Content => ({ text: 'one', mediaItems: [], ...more })
const THREAD = { segments: [segment('two'), segment('three')], firstComment: 'and a comment' }

function check(platform: Platform, more: Partial<Content>, post: Partial<PreflightInput> = {}) {
  const input = { content: content(more), platformSpecificContent: {}, ...post }
  const { errors, warnings, platforms } = preflight(input, [toPreflightTarget(platform)])
  const brief = (found: typeof errors) => found.map(({ path, code }) => [path, code])
  return { errors: brief(errors), warnings: brief(warnings), report: platforms[platform] }
}

describe('the parts of a post with files and failures', () => {
  it('a joined post has the media of all its posts, and no gaps for posts without text', () => {
    const segments = [segment(' ', image('b')), segment('three', image('c'))]
    const [part] = toParts('tumblr', content({ mediaItems: [image('a')], segments }))
    expect(part!.content).toMatchObject({
      text: 'one\n\nthree',
      mediaItems: [{ storageKey: 'a' }, { storageKey: 'b' }, { storageKey: 'c' }],
    })
  })

  it('a failed entry names the post of the thread that it failed at, and its comment has none', () => {
    const publishedPart = { platformPostId: '1', platformPostUrl: 'https://p.test/1', completedAt: new Date() }
    const failed = (published: number) => ({
      ...createPlatformStatus('bluesky'),
      parts: Array.from({ length: published }, () => publishedPart),
    })
    expect(findFailedPost(failed(1), content(THREAD))).toEqual({ number: 2, total: 3 })
    expect(findFailedPost(failed(3), content(THREAD))).toBeNull()
    expect(findFailedPost(failed(0), content({ firstComment: 'a' }))).toBeNull()
  })
})

describe('the check of a story and a reel', () => {
  const story = (more: Partial<Content> = {}) =>
    check('instagram', { mediaItems: [image('a')], options: { instagram: { kind: 'story' } }, ...more })
  const video = (duration: number) => image('v', { mimeType: 'video/mp4', duration })

  it('a text of any length is left out with a warning, and an empty one without', () => {
    const warnings = [['content.text', 'TEXT_LEFT_OUT']]
    expect(story({ text: 'x'.repeat(3_000) })).toMatchObject({ errors: [], warnings, report: { length: 0 } })
    expect(story({ text: '' })).toMatchObject({ errors: [], warnings: [] })
  })

  it('a first comment is not supported', () => {
    expect(story({ firstComment: 'hello' }).errors).toEqual([['content.firstComment', 'NOT_SUPPORTED']])
  })

  it.each([
    ['two pictures', [image('a'), image('b')], 'TOO_MANY_MEDIA'],
    ['a long video', [video(61)], 'VIDEO_TOO_LONG'],
    ['nothing', [], 'MEDIA_REQUIRED'],
  ])('a story of %s is refused', (_, mediaItems, code) => {
    expect(story({ mediaItems }).errors).toContainEqual(['content.mediaItems', code])
  })

  it('a reel is one video', () => {
    const reel = (mediaItems: Content['mediaItems']) =>
      check('instagram', { mediaItems, options: { instagram: { kind: 'reel' } } }).errors
    expect(reel([video(61)])).toEqual([])
    expect(reel([image('a')])).toEqual([['content.mediaItems', 'TOO_MANY_MEDIA']])
    expect(reel([])).toEqual([['content.mediaItems', 'MEDIA_REQUIRED']])
  })
})

describe('the check of parts', () => {
  it('a problem of a part names its place in the request', () => {
    const segments = [segment('x'.repeat(301)), segment('', ...Array.from({ length: 5 }, () => image('a')))]
    expect(check('bluesky', { segments, firstComment: 'y'.repeat(301) }).errors).toEqual([
      ['content.segments.0.text', 'TEXT_TOO_LONG'],
      ['content.segments.1.mediaItems', 'TOO_MANY_MEDIA'],
      ['content.firstComment', 'TEXT_TOO_LONG'],
    ])
  })

  it('a problem of a thread that one platform has for itself names its override', () => {
    const long = [segment('x'.repeat(301))]
    const ofPlatform = { platformSpecificContent: { bluesky: { segments: long } } }
    expect(check('bluesky', {}, ofPlatform).errors).toEqual([
      ['platformSpecificContent.bluesky.segments.0.text', 'TEXT_TOO_LONG'],
    ])
    expect(check('bluesky', { segments: long }, { platformSpecificContent: { bluesky: { segments: [] } } })).toEqual({
      errors: [],
      warnings: [],
      report: { length: 3, limit: 300, media: 0 },
    })
  })

  it('a warning about a file of a joined post names the file in the request', () => {
    const cut = image('b', { altText: 'a'.repeat(5_000) })
    expect(check('tumblr', { mediaItems: [image('a')], segments: [segment('two', image('c'), cut)] }).warnings).toEqual(
      [
        ['content.segments', 'JOINED'],
        ['content.segments.0.mediaItems.1.altText', 'ALT_TEXT_CUT'],
      ],
    )
  })

  it.each([
    ['refuse', [['content.segments', 'NOT_SUPPORTED']], []],
    ['join', [], [['content.segments', 'JOINED']]],
    ['skipPlatform', [], [['content.segments', 'LEFT_OUT']]],
  ] as const)('a thread on Facebook with the policy %s', (onUnsupported, errors, warnings) => {
    expect(check('facebook', { segments: [segment('two')], onUnsupported })).toMatchObject({ errors, warnings })
  })

  it.each([
    ['refuse', [['content.firstComment', 'NOT_SUPPORTED']], []],
    ['join', [], [['content.firstComment', 'JOINED']]],
    ['skipPlatform', [], [['content.firstComment', 'LEFT_OUT']]],
  ] as const)('a first comment on Tumblr with the policy %s', (onUnsupported, errors, warnings) => {
    expect(check('tumblr', { firstComment: 'a', onUnsupported })).toMatchObject({ errors, warnings })
  })

  it('a refused thread causes no second problem, and a left-out platform has no report', () => {
    const segments = [segment('x'.repeat(63_206))]
    expect(check('facebook', { segments }).errors).toEqual([['content.segments', 'NOT_SUPPORTED']])
    expect(check('facebook', { segments, onUnsupported: 'join' }).errors).toEqual([['content.text', 'TEXT_TOO_LONG']])
    expect(check('facebook', { segments, onUnsupported: 'skipPlatform' }).report).toBeUndefined()
  })

  it('an author decides for each platform', () => {
    const platformSpecificContent = { facebook: { onUnsupported: 'join' as const } }
    expect(check('facebook', { segments: [segment('two')] }, { platformSpecificContent }).errors).toEqual([])
  })

  it('a comment has the limit of its platform, and the report has every part', () => {
    const { report, errors } = check('facebook', { firstComment: 'c'.repeat(8_001) })
    expect(errors).toEqual([['content.firstComment', 'TEXT_TOO_LONG']])
    expect(report).toEqual({ length: 3, limit: 63_206, media: 0, parts: [{ length: 8_001, limit: 8_000, media: 0 }] })
    expect(check('facebook', { firstComment: 'c'.repeat(8_000) }).errors).toEqual([])
    expect(check('bluesky', { firstComment: 'c'.repeat(301) }).report!.parts).toEqual([
      { length: 301, limit: 300, media: 0 },
    ])
  })

  it('each post of a thread needs a text or media', () => {
    expect(check('threads', { segments: [segment(' ')] }).errors).toEqual([
      ['content.segments.0.text', 'TEXT_REQUIRED'],
    ])
  })
})
