import { expect, it } from 'vitest'
import { resolveContent } from '../../../../src/domain/posts/content.ts'

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
