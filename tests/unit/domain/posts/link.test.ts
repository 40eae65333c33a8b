import { describe, expect, it } from 'vitest'
import { findCardLink, isCardUrl, needsPage, toCardText, toFurtherLink } from '../../../../src/domain/posts/link.ts'
import { toParts } from '../../../../src/domain/posts/parts.ts'
import { prepareLeadMs } from '../../../../src/domain/posts/posting-rules.ts'

const CARD = { url: 'https://example.com/own', title: 'Own' }

describe('findCardLink', () => {
  it.each([
    ['Read https://example.com/a, then https://example.com/b', 'https://example.com/a'],
    ['Read (example.com/a).', 'https://example.com/a'],
    ['Read http://example.com', 'http://example.com'],
    ['Nothing to read', null],
    ['https://user:password@example.com/', null],
    [`https://example.com/${'a'.repeat(2_048)}`, null],
  ])('the card of %j is at %j', (text, url) => {
    expect(findCardLink('auto', text)).toEqual(url === null ? null : { url })
  })

  it('the choice of the author comes before the text', () => {
    expect(findCardLink('none', 'https://example.com')).toBeNull()
    expect(findCardLink(CARD, 'https://example.com')).toEqual(CARD)
  })
})

it.each([
  ['https://example.com/a?b#c', true],
  ['http://example.com', true],
  ['ftp://example.com', false],
  ['https://a@example.com', false],
  ['https://exa\tmple.com', false],
  ['example.com', false],
])('whether %j can be the URL of a card is %s', (url, expected) => {
  expect(isCardUrl(url)).toBe(expected)
})

it.each([
  ['  a \n\t b\u0000c  ', 'a b c'],
  ['a\u202eb\u2066c', 'abc'],
  ['\ud800a', '\ufffda'],
  ['👩‍👩‍👧', '👩‍👩‍👧'],
])('the text %j becomes %j in a card', (text, shown) => {
  expect(toCardText(text, 'title')).toBe(shown)
})

it('a long text of a card is cut with an ellipsis', () => {
  expect(toCardText('a'.repeat(100_000), 'title')).toBe(`${'a'.repeat(299)}…`)
})

it('a link that the author names is for the first post of a thread, and none is for all', () => {
  expect([CARD, 'auto', 'none'].map((choice) => toFurtherLink(choice as 'auto'))).toEqual(['auto', 'auto', 'none'])
  const content = { text: 'a', mediaItems: [], segments: [{ text: 'b', mediaItems: [] }], firstComment: 'c' }
  const linksOf = (link: typeof CARD | 'none') => toParts('bluesky', { ...content, link }).map((part) => part.link)
  expect(linksOf(CARD)).toEqual([CARD, 'auto', 'auto'])
  expect(linksOf('none')).toEqual(['none', 'none', 'none'])
})

it('a page is read a minute ahead, only for Bluesky and only where the post has a card', () => {
  const content = { text: 'https://example.com', mediaItems: [] }
  const image = { storageKey: 'k', storageUrl: 'u', mimeType: 'image/png' }
  expect(prepareLeadMs('bluesky', content)).toBe(60_000)
  expect(prepareLeadMs('mastodon', content)).toBe(0)
  expect(prepareLeadMs('bluesky', { ...content, link: 'none' })).toBe(0)
  expect(needsPage('bluesky', { ...content, mediaItems: [image] })).toBe(false)
})
