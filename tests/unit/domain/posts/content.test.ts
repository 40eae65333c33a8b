import { expect, it } from 'vitest'
import { collectMediaKeys, resolveContent, withoutEmptyParts } from '../../../../src/domain/posts/content.ts'

const item = { storageKey: 'posts/u/a.png', storageUrl: 'http://s/posts/u/a.png', mimeType: 'image/png' }
const content = { text: 'common', mediaItems: [item] }

it('a platform without an override gets the common content', () => {
  expect(
    resolveContent({ content, platformSpecificContent: { threads: { text: 'other' } } }, { platform: 'bluesky' }),
  ).toEqual(content)
})

it('an override replaces text and media separately, even with empty values', () => {
  const post = {
    content,
    platformSpecificContent: { bluesky: { text: 'own' }, threads: { mediaItems: [] }, tumblr: { text: '' } },
  }
  expect(resolveContent(post, { platform: 'bluesky' })).toEqual({ text: 'own', mediaItems: [item] })
  expect(resolveContent(post, { platform: 'threads' })).toEqual({ text: 'common', mediaItems: [] })
  expect(resolveContent(post, { platform: 'tumblr' })).toEqual({ text: '', mediaItems: [item] })
})

it('an override of an account comes before that of its platform, part by part', () => {
  const post = {
    content,
    platformSpecificContent: { bluesky: { text: 'of the platform', mediaItems: [] } },
    accountSpecificContent: { second: { text: 'of the account' } },
  }
  expect(resolveContent(post, { platform: 'bluesky', accountId: 'second' })).toEqual({
    text: 'of the account',
    mediaItems: [],
  })
  expect(resolveContent(post, { platform: 'bluesky', accountId: 'first' }).text).toBe('of the platform')
})

it('an override replaces the thread, the comment and the policy separately, and an empty one removes them', () => {
  const thread = { segments: [{ text: 'two', mediaItems: [] }], firstComment: 'below', onUnsupported: 'join' as const }
  const post = {
    content: { ...content, ...thread },
    platformSpecificContent: { bluesky: { segments: [], onUnsupported: 'refuse' as const } },
    accountSpecificContent: { second: { firstComment: '' } },
  }
  expect(resolveContent(post, { platform: 'bluesky', accountId: 'second' })).toEqual({
    ...content,
    segments: [],
    firstComment: '',
    onUnsupported: 'refuse',
  })
  expect(resolveContent(post, { platform: 'threads' })).toEqual({ ...content, ...thread })
})

it('an empty thread and an empty comment are stored as none', () => {
  expect(withoutEmptyParts({ ...content, segments: [], firstComment: '', onUnsupported: 'join' })).toEqual({
    ...content,
    onUnsupported: 'join',
  })
})

it('the media of a post include those of its threads, also for single platforms and accounts', () => {
  const segmentWith = (storageKey: string) => ({ segments: [{ text: '', mediaItems: [{ ...item, storageKey }] }] })
  const keys = collectMediaKeys({
    content: { ...content, ...segmentWith('b') },
    platformSpecificContent: { bluesky: segmentWith('c') },
    accountSpecificContent: { second: segmentWith('d') },
  })
  expect([...keys]).toEqual([item.storageKey, 'b', 'c', 'd'])
})
