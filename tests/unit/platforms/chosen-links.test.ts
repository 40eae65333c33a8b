import { expect, it } from 'vitest'
import { findPreviewLink } from '../../../src/platforms/facebook/links.ts'
import { threadsDialect } from '../../../src/platforms/threads/container-dialect.ts'

const CARD = { url: 'https://example.com/own' }
const content = { text: 'Read https://example.com/first', mediaItems: [] }

it.each([
  [undefined, 'https://example.com/first'],
  ['auto' as const, 'https://example.com/first'],
  ['none' as const, undefined],
  [CARD, CARD.url],
  [{ url: 'https://www.facebook.com/x' }, undefined],
])('Facebook previews the link that the post chooses with %j', (link, url) => {
  expect(findPreviewLink({ content, ...(link && { link }) })).toBe(url)
})

it.each([
  ['auto' as const, undefined],
  ['none' as const, undefined],
  [CARD, CARD.url],
])('Threads gets an attached link only where the author names one: %j', (link, url) => {
  expect(threadsDialect.toSingleFields({ content, options: {}, link }, undefined)).toEqual({
    ...{ media_type: 'TEXT', text: content.text, link_attachment: url },
  })
  const item = { storageKey: 'k', storageUrl: 'u', mimeType: 'image/png' }
  const media = { item, url: 'https://example.com/x.png' }
  expect(threadsDialect.toSingleFields({ content, options: {}, link }, media)).not.toHaveProperty('link_attachment')
})
