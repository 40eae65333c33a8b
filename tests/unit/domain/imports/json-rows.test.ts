import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { cutJsonRows } from '../../../../src/domain/imports/json-rows.ts'

const encode = (text: string) => new TextEncoder().encode(text)

function cut(text: string, maxRowBytes = 1_000_000): string[] {
  return Array.from(cutJsonRows(encode(text), maxRowBytes), (row) => new TextDecoder().decode(row))
}

describe('the rows of a JSON array', () => {
  it('every array is cut into its elements', () => {
    fc.assert(
      fc.property(fc.array(fc.jsonValue()), fc.boolean(), (values, isPretty) => {
        const rows = cut(JSON.stringify(values, null, isPretty ? 2 : 0))
        expect(rows.map((row) => JSON.parse(row) as unknown)).toEqual(JSON.parse(JSON.stringify(values)))
      }),
      {
        examples: [
          [['a"],[\\'], false],
          [[{ '}': ['{', '\\"'] }], false],
          [[], true],
        ],
      },
    )
  })

  it('space around the array is ignored', () => {
    expect(cut(' \n[1, 2] \n')).toEqual(['1', ' 2'])
  })

  it.each([
    ['{}', 'not a JSON array'],
    ['', 'not a JSON array'],
    ['x[1]', 'not a JSON array'],
    ['[1', 'The array ends in row 1'],
    ['[1,', 'The array ends in row 2'],
    ['[1,]', 'Row 2 is empty'],
    ['[,1]', 'Row 1 is empty'],
    ['[1,,2]', 'Row 2 is empty'],
    ['[1,{]', 'The array ends in row 2'],
    ['[1,}]', 'Row 2 is not valid JSON'],
    ['["a]', 'The array ends in row 1'],
    ['[1] 2', 'after the end of the array'],
  ])('the text %j is refused with the place of the mistake', (text, message) => {
    expect(() => cut(text)).toThrow(message)
  })

  it('a row above the limit is refused before its end is found', () => {
    expect(cut(`[1,"${'a'.repeat(8)}"]`, 10)).toHaveLength(2)
    expect(() => cut(`[1,"${'a'.repeat(11)}`, 10)).toThrow('Row 2 is larger than 10 bytes')
  })
})
