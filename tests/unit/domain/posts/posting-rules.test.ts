import { describe, expect, it } from 'vitest'
import { PLATFORMS } from '../../../../src/domain/shared/platforms.ts'
import {
  countText,
  fitAltText,
  MAX_MEDIA_ITEMS,
  POSTING_RULES,
  prepareLeadMs,
} from '../../../../src/domain/posts/posting-rules.ts'

const FAMILY = '👨‍👩‍👧‍👦'
const item = (mimeType: string, altText?: string) => ({
  storageKey: 'k',
  storageUrl: 'u',
  mimeType,
  ...(altText === undefined ? {} : { altText }),
})

const UNITS = [
  'graphemes',
  'utf8Bytes',
  'utf16Units',
  'codePoints',
  'codePointsEmojiAsBytes',
  'graphemesLinksAs23',
] as const

describe('countText', () => {
  it.each([
    ['graphemes', `é${FAMILY}🇩🇪`, 3],
    ['graphemes', 'e\u0301\r\n', 2],
    ['utf8Bytes', `é${FAMILY}`, 27],
    ['utf16Units', '👍a', 3],
    ['codePoints', '👍a', 2],
    ['utf8Bytes', '\u007f\u0080\u07ff\u0800\uffff\u{10000}', 1 + 2 + 2 + 3 + 3 + 4],
    ['codePointsEmojiAsBytes', 'aé', 2],
    ['codePointsEmojiAsBytes', `a${FAMILY}`, 26],
    ['codePointsEmojiAsBytes', '🇩🇪', 8],
    ['codePointsEmojiAsBytes', '🏽', 4],
    ['codePointsEmojiAsBytes', 'नमस्ते 日本語', 10],
    ['codePointsEmojiAsBytes', '1\u{fe0f}\u{20e3} 12', 10],
  ] as const)('countText measures %s of %j', (unit, text, expected) => expect(countText(text, unit)).toBe(expected))

  it.each([
    [`see https://example.com/${'a'.repeat(200)}`, 4 + 23],
    ['https://a.com.', 23 + 1],
    ['(https://a.com/b).', 1 + 23 + 2],
    ['gemini://a.com', 23],
    ['http://localhost', 16],
    ['http://10.0.0.1:8080/x', 22],
    ['http://nas.local/x', 18],
    ['https://new.music/x', 19],
    ['https://a_b.com', 15],
    ['https://www.a_b.example.com', 23],
    ['www.example.com', 15],
    ['https://xn--e1afmkfd.xn--p1ai/x', 23],
    ['https://пример.рф/путь，', 23],
    ['https://a.com，欢迎', 23 + 3],
    ['https://a.com/x，欢迎', 23],
    ['https://a.com/x_(y)', 23],
    ['https://a.com/日_(曖昧)', 23 + 4],
    ['https://a.com/x\u3000y', 23 + 2],
    ['https://a.com?q=x\u3000y', 23],
    ['https://😀.com', 13],
    ['https://t.co/abc/def', 23 + 4],
    ['xhttps://a.com/b', 16],
    ['#https://a.com/b', 16],
    ['b.com/https://a.com/b', 21],
    ['=@ann@social.example', 20],
    ['@ann@пример.рф', 4],
    ['@ann@social.example@x', 21],
    ['hello @ann@social.example!', 'hello @ann!'.length],
    ['mail ann@social.example', 'mail ann@social.example'.length],
    [FAMILY, 1],
  ])('countText measures %j like Mastodon', (text, expected) =>
    expect(countText(text, 'graphemesLinksAs23')).toBe(expected),
  )

  it.each([
    ['@a.b.c@example.social', '@a.b.c'],
    ['@a..b-c_@example.social', '@a..b-c_'],
    ['@_@example.social', '@_'],
    ['@a.@example.social', '@a.@example.social'],
    ['@.a@example.social', '@.a@example.social'],
    ['x@a@example.social', 'x@a@example.social'],
  ])('Mastodon counts %j like %j', (text, counted) => {
    expect(countText(text, 'graphemesLinksAs23')).toBe(counted.length)
  })

  it.each(UNITS)('countText stops counting %s at the given maximum', (unit) => {
    expect(countText('👍'.repeat(50), unit, 20)).toBe(20)
    expect(countText('a'.repeat(20), unit, 20)).toBe(20)
    expect(countText('a'.repeat(19), unit, 20)).toBe(19)
  })
})

describe('POSTING_RULES', () => {
  it('the posting rules have a JSON row for every platform', () => {
    expect(Object.keys(POSTING_RULES)).toEqual([...PLATFORMS])
    expect(JSON.parse(JSON.stringify(POSTING_RULES))).toEqual(POSTING_RULES)
  })

  it('no platform allows more media than a post may have', () => {
    for (const platform of PLATFORMS) expect(POSTING_RULES[platform].media.max).toBeLessThanOrEqual(MAX_MEDIA_ITEMS)
  })
})

describe('fitAltText', () => {
  it('a description is cut without splitting a character, and omitted where the platform accepts none', () => {
    expect(fitAltText(item('image/png', 'a cat'), POSTING_RULES.bluesky)).toBe('a cat')
    expect(fitAltText(item('image/png'), POSTING_RULES.bluesky)).toBe('')
    const cut = fitAltText(item('image/png', '👍'.repeat(2_001)), POSTING_RULES.bluesky)
    expect([...cut]).toHaveLength(2_000)
    expect(cut).toBe('👍'.repeat(1_999) + '…')
    expect(fitAltText(item('video/mp4', 'a film'), POSTING_RULES.facebook)).toBe('')
  })
})

describe('prepareLeadMs', () => {
  it('preparation starts a minute ahead for images, ten for a video and never for text', () => {
    const lead = (...types: string[]) =>
      prepareLeadMs('bluesky', { text: '', mediaItems: types.map((type) => item(type)) })
    expect([lead(), lead('image/png'), lead('image/png', 'video/mp4')]).toEqual([0, 60_000, 600_000])
  })
})
