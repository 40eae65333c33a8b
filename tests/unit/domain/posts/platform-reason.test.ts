import { describe, expect, it } from 'vitest'
import { explainFailure, failure } from '../../../../src/domain/posts/failure.ts'
import { maskEchoes, toPlatformReason } from '../../../../src/domain/posts/platform-reason.ts'

const textOf = (text: string) => toPlatformReason({ text })?.text ?? null

describe("a platform's own text", () => {
  it.each([
    ['markup is removed', '<b onclick="x()">Too</b> <script>long</script> a < b', 'Too long a b'],
    ['control characters become spaces', 'one\u0000two\r\n\tthree\u2028four', 'one two three four'],
    ['bidirectional and zero-width controls are removed', '\u202Eabc\u2066 d\u200Be\uFEFF f\u00AD', 'abc de f'],
    ['lone surrogates are removed', 'a\uD83D b', 'a b'],
    ['emoji and other scripts stay', 'Zu lang 🙂 ひらがな', 'Zu lang 🙂 ひらがな'],
    [
      'long runs with digits are hidden',
      'Bad token eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0',
      'Bad token [hidden].[hidden]',
    ],
    [
      'addresses stay readable',
      'See https://developers.example.test/docs/errors',
      'See https://developers.example.test/docs/errors',
    ],
    ['long words without digits stay', 'InvalidImageDimensionsExceeded', 'InvalidImageDimensionsExceeded'],
  ])('%s', (_rule, raw, expected) => {
    expect(textOf(raw)).toBe(expected)
  })

  it('a platform text has at most 300 characters and never half a character', () => {
    expect(textOf('x'.repeat(300))).toBe('x'.repeat(300))
    expect(textOf('x'.repeat(301))).toBe(`${'x'.repeat(299)}…`)
    expect(textOf('x'.repeat(10_000))).toBe(`${'x'.repeat(299)}…`)
    expect(textOf(`${'x'.repeat(298)}${'🙂'.repeat(9)}`)).toBe(`${'x'.repeat(298)}…`)
  })

  it('only the first 4,000 characters of a response are read', () => {
    expect(textOf(`${' '.repeat(3_999)}ab`)).toBe('a')
  })

  it.each(['', ' \n', '<>', '\u200B'])('the text %j yields no reason', (text) => {
    expect(toPlatformReason({ text })).toBeNull()
  })

  it('sanitizing hostile text takes linear time', () => {
    const hostile = ['<', '<a', '&', '\u200B', ' ', 'a1-', '<a '.repeat(3), '🙂']
    for (const piece of hostile) expect((textOf(piece.repeat(1_000_000)) ?? '').length).toBeLessThanOrEqual(300)
  })
})

describe('a code of a platform', () => {
  it.each([
    ['InvalidRequest', 'InvalidRequest'],
    ['100/2207028', '100/2207028'],
    [8016, '8016'],
    ['<b>', null],
    ['two words', null],
    ['x'.repeat(65), null],
    ['', null],
  ])('the code %j is stored as %j', (code, expected) => {
    expect(toPlatformReason({ code, text: 'x' })).toEqual({ code: expected, text: 'x' })
  })
})

describe('an echo', () => {
  const hide = (text: string, ...hidden: string[]) => maskEchoes({ code: null, text }, hidden).text

  it('an echo of a secret is masked, whole or truncated', () => {
    const secret = 'abcd-efgh-ijkl-mnop'
    expect(hide(`Token ${secret} is bad`, secret)).toBe('Token [hidden] is bad')
    expect(hide(`Token ${secret.slice(0, 14)}... is bad`, secret)).toBe('Token [hidden]... is bad')
    expect(hide(`${secret}${secret}, ${secret.slice(3)}`, secret)).toBe('[hidden][hidden], [hidden]')
  })

  it('an echo of the post is masked whatever its line breaks', () => {
    const words = 'Our summer party\n\nis on Friday, bring cake'
    expect(hide('Not allowed: "Our summer party is on Friday, bri…"', words)).toBe('Not allowed: "[hidden]…"')
  })

  it('an echo of fewer than four characters is not masked', () => {
    expect(hide('a post is too long', 'is')).toBe('a post is too long')
    expect(hide('a post is too long', 'too')).toBe('a post is too long')
    expect(hide('Please stop', 'abcd-efgh-ijkl-mnop')).toBe('Please stop')
    expect(hide('a post is too long', 'post')).toBe('a [hidden] is too long')
  })
})

describe('the explanation of a failure', () => {
  const explain = (...[code, text]: (string | undefined)[]) =>
    explainFailure(failure('validation', 'Bluesky refused the post.', toPlatformReason({ code, text })), 'bluesky')

  it('an explanation has the message first and then the platform text', () => {
    expect(explain('InvalidRequest', 'Record too large')).toBe(
      'Bluesky refused the post. Bluesky says: “Record too large” (InvalidRequest)',
    )
    expect(explain(undefined, 'Record too large')).toBe('Bluesky refused the post. Bluesky says: “Record too large”')
    expect(explain('InvalidRequest')).toBe('Bluesky refused the post. Bluesky says: InvalidRequest')
    expect(explain()).toBe('Bluesky refused the post.')
  })

  it('an explanation has at most 500 characters', () => {
    const reason = toPlatformReason({ text: 'y'.repeat(400) })
    const explained = explainFailure(failure('validation', 'x'.repeat(600), reason), 'bluesky')
    expect(explained).toHaveLength(500)
    expect(failure('validation', 'x'.repeat(500)).message).toBe('x'.repeat(500))
    expect(failure('validation', 'x'.repeat(501)).message).toBe(`${'x'.repeat(499)}…`)
  })
})
