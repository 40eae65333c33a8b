import { expect, it } from 'vitest'
import { resolveContent } from '../../../../src/domain/posts/content.ts'

const item = { storageKey: 'posts/u/a.png', storageUrl: 'http://s/posts/u/a.png', mimeType: 'image/png' }
const content = { text: 'common', mediaItems: [item] }

it('a platform without an override gets the common content', () => {
  expect(resolveContent({ content, platformSpecificContent: { threads: { text: 'other' } } }, 'bluesky')).toEqual(
    content,
  )
})

it('an override replaces text and media separately, even with empty values', () => {
  const post = {
    content,
    platformSpecificContent: { bluesky: { text: 'own' }, threads: { mediaItems: [] }, tumblr: { text: '' } },
  }
  expect(resolveContent(post, 'bluesky')).toEqual({ text: 'own', mediaItems: [item] })
  expect(resolveContent(post, 'threads')).toEqual({ text: 'common', mediaItems: [] })
  expect(resolveContent(post, 'tumblr')).toEqual({ text: '', mediaItems: [item] })
})
