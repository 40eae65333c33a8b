import { expect, it } from 'vitest'
import { cutToFit, takeCharacters } from '../../../../src/domain/shared/fit-text.ts'
import { escapeHtml } from '../../../../src/domain/shared/html.ts'
import { findAllLinks, findLinks } from '../../../../src/domain/shared/links.ts'
import { parseList, splitIntoChunks } from '../../../../src/domain/shared/lists.ts'
import { toExcerpt } from '../../../../src/domain/shared/plain-text.ts'
import { joinUrl } from '../../../../src/domain/shared/redirects.ts'
import { countCodePoints, takeCodePoints, trimFullStop } from '../../../../src/domain/shared/text.ts'
import {
  formatDate,
  formatIsoDate,
  formatTime,
  formatWait,
  roundUpToSecond,
} from '../../../../src/domain/shared/times.ts'

it('takeCharacters counts graphemes', () => {
  expect(takeCharacters('a👩‍👩‍👧b', 2)).toBe('a👩‍👩‍👧')
  expect(takeCharacters('ab', 0)).toBe('')
  expect(takeCharacters('ab', 5)).toBe('ab')
})

it('cutToFit returns the longest prefix that fits with an ellipsis', () => {
  const fits = (max: number) => (text: string) => text.length <= max
  expect(cutToFit('abcdef', fits(6))).toBe('abcdef')
  expect(cutToFit('abcdef', fits(4))).toBe('abc…')
  expect(cutToFit('ab cdef', fits(4))).toBe('ab…')
  expect(cutToFit('abcdef', fits(6), (cut) => `<${cut}>`)).toBe('<abc…>')
})

it('cutToFit returns the longest prefix for every length and limit, and the ellipsis alone when nothing else fits', () => {
  for (let length = 0; length <= 12; length += 1) {
    const text = 'abcdefghijkl'.slice(0, length)
    for (let max = 1; max <= 13; max += 1) {
      const expected = length <= max ? text : `${text.slice(0, max - 1)}…`
      expect(cutToFit(text, (cut) => cut.length <= max)).toBe(expected)
    }
  }
})

it('code points are counted and taken without splitting surrogate pairs', () => {
  expect([countCodePoints(''), countCodePoints('a😀b')]).toEqual([0, 3])
  expect([takeCodePoints('a😀b', 2), takeCodePoints('😀😀', 1), takeCodePoints('ab', 5)]).toEqual(['a😀', '😀', 'ab'])
})

it('texts are trimmed, escaped and joined', () => {
  expect([trimFullStop('Done. '), trimFullStop('Done..'), trimFullStop('.')]).toEqual(['Done', 'Done', ''])
  expect(escapeHtml(`<a href="x">'&'</a>`)).toBe('&lt;a href=&quot;x&quot;&gt;&#39;&amp;&#39;&lt;/a&gt;')
  expect([joinUrl('http://a//', '/b'), joinUrl('http://a', '/b')]).toEqual(['http://a/b', 'http://a/b'])
})

it('lists are split into chunks and parsed from a line', () => {
  expect(splitIntoChunks([1, 2, 3, 4, 5], 2)).toEqual([[1, 2], [3, 4], [5]])
  expect(splitIntoChunks([], 2)).toEqual([])
  expect(parseList(' a, b,,c ')).toEqual(['a', 'b', 'c'])
})

it('links are found without the punctuation of the sentence', () => {
  expect(findLinks('See https://a.test/x, or (http://b.test).')).toEqual([
    { url: 'https://a.test/x', index: 4 },
    { url: 'http://b.test', index: 26 },
  ])
})

it.each([
  ['https://en.wikipedia.org/wiki/Mercury_(planet)', 'https://en.wikipedia.org/wiki/Mercury_(planet)'],
  ['(see https://en.wikipedia.org/wiki/Mercury_(planet)).', 'https://en.wikipedia.org/wiki/Mercury_(planet)'],
  ['[text](https://a.com/x)', 'https://a.com/x'],
  ['“https://a.com/x”', 'https://a.com/x'],
  ['«https://a.com/x»', 'https://a.com/x'],
  ['https://a.com/x… more', 'https://a.com/x'],
  ['https://a.com/x）欢迎', 'https://a.com/x'],
  ['请看https://a.com/x，谢谢', 'https://a.com/x'],
  ['https://a.com欢迎', 'https://a.com'],
  ['https://日本.jp/道。', 'https://日本.jp/道'],
  ['\u2067https://a.com/x\u2069', 'https://a.com/x'],
  ['https://a.com/x\u200e', 'https://a.com/x'],
  ["https://a.com's page", 'https://a.com'],
  ['https://a.com’s.', 'https://a.com'],
  ['https://a.com/Schindler’s_List', 'https://a.com/Schindler’s_List'],
  ['**https://a.com/x**', 'https://a.com/x'],
  ['https://a.com/p?q=(a)&b=c,d#f!', 'https://a.com/p?q=(a)&b=c,d#f'],
])('the link in %j ends where its address ends', (text, url) => {
  expect(findLinks(text)).toEqual([{ url, index: text.indexOf(url) }])
})

it('links without a scheme need a known ending, or www. before them', () => {
  const find = (text: string) => findAllLinks(text).map(({ url }) => url)
  expect(find('a.com, https://b.com/c.com (www.d.new/x). ann@e.com f.g@h Node.js 3.14 i.e. -j.com k.com谢谢')).toEqual([
    'a.com',
    'https://b.com/c.com',
    'www.d.new/x',
    '-j.com',
    'k.com',
  ])
})

it('an excerpt has at most 60 characters and shows that a long text continues', () => {
  expect(toExcerpt('Hello')).toBe('Hello')
  expect(toExcerpt('x'.repeat(60))).toBe('x'.repeat(60))
  expect(toExcerpt('x'.repeat(61))).toBe(`${'x'.repeat(59)}…`)
  expect(toExcerpt(`Hi${'\u200B'.repeat(500)}`)).toBe('H…')
})

it('an excerpt that is cut after a full stop ends with the ellipsis alone', () => {
  const sentence = `${'x'.repeat(58)}.`
  expect(toExcerpt(sentence)).toBe(sentence)
  expect(toExcerpt(`${sentence} More`)).toBe(`${'x'.repeat(58)}…`)
})

it('times are formatted for users', () => {
  const instant = new Date('2026-05-01T07:30:00Z')
  expect([1, 40, 99, 100, 121].map(formatWait)).toEqual([
    '1 second',
    '40 seconds',
    '99 seconds',
    '2 minutes',
    '3 minutes',
  ])
  expect(formatIsoDate(instant)).toBe('2026-05-01')
  expect(formatDate(instant, 'Europe/Berlin')).toBe('1 May 2026')
  expect(formatTime(instant, 'Europe/Berlin')).toBe('1 May 2026, 09:30 (Europe/Berlin)')
  expect(formatTime(instant, 'UTC')).toBe('1 May 2026, 07:30 (UTC)')
  const later = roundUpToSecond(new Date('2026-05-01T07:30:06.001Z'))
  expect(formatTime(later, 'UTC')).toBe('1 May 2026, 07:30:07 (UTC)')
  expect(roundUpToSecond(later)).toEqual(later)
})
