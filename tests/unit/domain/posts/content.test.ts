import { expect, it } from 'vitest'
import { effectiveContent } from '../../../../src/domain/posts/content.ts'

const item = { storageKey: 'posts/u/a.png', storageUrl: 'http://s/posts/u/a.png', mimeType: 'image/png' }
const content = { text: 'common', mediaItems: [item] }

it('gives a platform the common content when it has no override', () => {
  expect(effectiveContent({ content, platformSpecificContent: { threads: { text: 'other' } } }, 'bluesky')).toEqual(
    content,
  )
})

it('replaces text and media singly, and by empty values too', () => {
  const post = {
    content,
    platformSpecificContent: { bluesky: { text: 'own' }, threads: { mediaItems: [] }, tumblr: { text: '' } },
  }
  expect(effectiveContent(post, 'bluesky')).toEqual({ text: 'own', mediaItems: [item] })
  expect(effectiveContent(post, 'threads')).toEqual({ text: 'common', mediaItems: [] })
  expect(effectiveContent(post, 'tumblr')).toEqual({ text: '', mediaItems: [item] })
})
