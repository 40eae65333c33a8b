import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { parseJson } from '../../../../src/domain/shared/json-text.ts'
import { ServiceError } from '../../../../src/domain/shared/service-error.ts'

const bytes = (text: string) => new TextEncoder().encode(text)
const findRefusal = (text: string): string | null => {
  try {
    parseJson(bytes(text))
    return null
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error
    return error.message
  }
}

const TOO_MANY = 'Request body has more than 10000 values. Send less data.'
const TOO_DEEP = 'Request body is nested more than 32 levels deep. Flatten it.'

describe('parseJson', () => {
  it('parseJson accepts all output of JSON.stringify with any white space', () => {
    const withoutLoneSurrogates = fc.jsonValue().filter((value) => !JSON.stringify(value).includes('\\ud'))
    fc.assert(
      fc.property(withoutLoneSurrogates, fc.constantFrom('', ' ', '\n\t '), (value, blanks) => {
        const text = `${blanks}${JSON.stringify(value, null, blanks)}${blanks}`
        if (text.includes('\\u0000') || text.includes('__proto__')) return
        expect(parseJson(bytes(text))).toEqual(JSON.parse(text))
      }),
    )
  })

  it.each([
    ['an array', (count: number) => `[${Array.from({ length: count - 1 }, () => '0').join(',')}]`],
    ['nested arrays', (count: number) => `[${Array.from({ length: count - 1 }, () => '[ ]').join(' , ')}]`],
    ['equal names', (count: number) => `{${Array.from({ length: count - 1 }, () => '"a":0').join(',')}}`],
    ['objects', (count: number) => `[${Array.from({ length: (count - 1) / 2 }, () => '{"a":"],[{"}').join(',')}]`],
  ])('parseJson accepts at most 10,000 values in %s', (_, make) => {
    expect(findRefusal(make(9_999))).toBeNull()
    expect(findRefusal(make(10_001))).toBe(TOO_MANY)
  })

  it('parseJson accepts at most 32 levels', () => {
    const nested = (levels: number) => `${'[{"a":'.repeat(levels / 2)}0${'}]'.repeat(levels / 2)}`
    expect(findRefusal(nested(32))).toBeNull()
    expect(findRefusal(nested(34))).toBe(TOO_DEEP)
    expect(findRefusal('['.repeat(33))).toBe(TOO_DEEP)
  })

  it('parseJson ignores brackets and commas in strings, however they are escaped', () => {
    const inside = String.raw`[[[{{{,,,\"[\\\"]`.repeat(2_000)
    expect(findRefusal(`{"${inside}":"${inside}"}`)).toBeNull()
    expect(findRefusal(`["\\\\",${'[],'.repeat(10_000)}0]`)).toBe(TOO_MANY)
  })
})
