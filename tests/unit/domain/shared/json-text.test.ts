import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { createJsonScan, parseForeignJson, parseJson } from '../../../../src/domain/shared/json-text.ts'
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

  it('parseJson cuts the path of a text that cannot be stored', () => {
    expect(findRefusal(JSON.stringify({ ['a'.repeat(100_000)]: '\0' }))).toBe(
      `Validation failed: ${'a'.repeat(200)} contains NUL characters. Remove them.`,
    )
  })

  it('parseJson counts the outermost value, so the limit is exact', () => {
    const numbers = (count: number) => `[${Array.from({ length: count }, () => '0').join(',')}]`
    expect(findRefusal(numbers(9_999))).toBeNull()
    expect(findRefusal(numbers(10_000))).toBe(TOO_MANY)
    expect(findRefusal(`[${numbers(9_998)}]`)).toBeNull()
    expect(findRefusal(`[${numbers(9_999)}]`)).toBe(TOO_MANY)
  })

  it('parseJson counts levels that are open together, not all brackets', () => {
    expect(findRefusal(`[${Array.from({ length: 100 }, () => '[{}]').join(',')}]`)).toBeNull()
    expect(findRefusal(`${'['.repeat(32)}${']'.repeat(32)}`)).toBeNull()
    expect(findRefusal(`${'['.repeat(33)}${']'.repeat(33)}`)).toBe(TOO_DEEP)
  })

  it.each(['', '{"a":', '[0,]', 'nothing'])('parseJson rejects the invalid text %j', (text) => {
    expect(findRefusal(text)).toBe('Request body is not valid JSON. Correct its syntax.')
  })

  it('parseJson rejects bytes that are not UTF-8', () => {
    const invalid = new Uint8Array([0x22, 0xff, 0x22])
    expect(() => parseJson(invalid)).toThrow('Request body is not valid UTF-8. Encode it as UTF-8.')
  })

  it.each([
    [String.raw`"\u0000"`, 'Request body contains NUL characters. Remove them.'],
    [String.raw`{"a":{"b":["x","\u0000"]}}`, 'a.b.1 contains NUL characters. Remove them.'],
    [String.raw`{"a":{"\u0000":1}}`, 'a contains NUL characters. Remove them.'],
    [String.raw`{"a":"\ud800"}`, 'a contains lone surrogates. Remove them.'],
    [String.raw`[{"\udc00":1}]`, '0 contains lone surrogates. Remove them.'],
  ])('parseJson rejects the text of %s, which cannot be stored', (text, message) => {
    expect(findRefusal(text)).toBe(`Validation failed: ${message}`)
  })

  it('parseJson drops __proto__ at every level', () => {
    const parsed = parseJson(bytes('{"a":1,"__proto__":{"b":2},"c":[{"__proto__":{"d":3}}]}'))
    expect(Object.keys(parsed as object)).toEqual(['a', 'c'])
    expect(parsed).toEqual({ a: 1, c: [{}] })
  })
})

describe('createJsonScan', () => {
  /** Scans a text in pieces of `size` bytes. */
  const scan = (text: string, { max = 10, size = 3 } = {}) => {
    const exceeds = createJsonScan(max)
    const all = bytes(text)
    const pieces = Array.from({ length: Math.ceil(all.length / size) }, (_, at) =>
      all.subarray(at * size, (at + 1) * size),
    )
    return pieces.map(exceeds).find((excess) => excess !== null) ?? null
  }

  it('createJsonScan counts the same values, however the text is divided', () => {
    fc.assert(
      fc.property(
        fc.jsonValue(),
        fc.integer({ min: 1, max: 9 }),
        fc.integer({ min: 1, max: 30 }),
        (value, size, max) => {
          const text = JSON.stringify(value)
          const isMany = countValues(value) > max
          // A text that is neither a list nor an object is one value, which no limit forbids.
          expect(scan(text, { max, size }) === 'values').toBe(isMany && /^[[{]/.test(text))
        },
      ),
    )
  })

  it.each([
    ['a page', '<p>a,b,c,d,e,f,g,h,i,j,k,[[[[</p>'],
    ['a text', '"[1,2,3,4,5,6,7,8,9,10,11]"'],
    ['a number before a list', '1[1,2,3,4,5,6,7,8,9,10,11]'],
    ['a list after the end', '{}[1,2,3,4,5,6,7,8,9,10,11]'],
  ])('createJsonScan ignores what the parser does not reach in %s', (_, text) => {
    expect(scan(text)).toBeNull()
  })

  it('createJsonScan counts values after a byte order mark, which parsers of responses skip', () => {
    expect(scan('\ufeff[1,2,3,4,5,6,7,8,9,10]')).toBe('values')
    expect(scan(`\ufeff${'['.repeat(33)}`, { max: 100 })).toBe('depth')
  })
})

function countValues(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 1
  return Object.values(value).reduce((sum: number, one) => sum + countValues(one), 1)
}

describe('parseForeignJson', () => {
  it('parseForeignJson accepts what cannot be stored and up to 50,000 values', () => {
    expect(parseForeignJson(String.raw`["\ud800\u0000"]`)).toEqual(['\ud800\0'])
    expect(parseForeignJson(`[${'0,'.repeat(49_998)}0]`)).toHaveLength(49_999)
  })

  it.each([
    ['an open list', '['],
    ['too many values', `[${'0,'.repeat(49_999)}0]`],
    ['33 levels', '['.repeat(33)],
  ])('parseForeignJson returns undefined for %s', (_, text) => {
    expect(parseForeignJson(text)).toBeUndefined()
  })
})
