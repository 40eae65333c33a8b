import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { createJsonRows } from '../../../../src/domain/imports/json-rows.ts'

const encode = (text: string) => new TextEncoder().encode(text)

function cut(bytes: Uint8Array, chunkBytes = bytes.length || 1, maxRowBytes = 1_000_000): string[] {
  const cutter = createJsonRows(maxRowBytes)
  const found: string[] = []
  for (let at = 0; at < bytes.length; at += chunkBytes) {
    const chunk = bytes.slice(at, at + chunkBytes)
    for (const row of cutter.push(chunk)) found.push(new TextDecoder().decode(row))
    // Streams use their memory again.
    chunk.fill(0)
  }
  cutter.end()
  return found
}

describe('the rows of a JSON array', () => {
  it('every array is cut into its elements, however it is divided into chunks', () => {
    fc.assert(
      fc.property(fc.array(fc.jsonValue()), fc.integer({ min: 1, max: 20 }), fc.boolean(), (values, size, isPretty) => {
        const rows = cut(encode(JSON.stringify(values, null, isPretty ? 2 : 0)), size)
        expect(rows.map((row) => JSON.parse(row) as unknown)).toEqual(JSON.parse(JSON.stringify(values)))
      }),
      {
        examples: [
          [['a"],[\\'], 1, false],
          [[{ '}': ['{', '\\"'] }], 3, false],
          [[], 1, true],
        ],
      },
    )
  })

  it('a byte order mark and space around the array are ignored', () => {
    expect(cut(encode('\ufeff \n[1, 2] \n'), 1)).toEqual(['1', ' 2'])
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
    for (const size of [1, 100]) expect(() => cut(encode(text), size)).toThrow(message)
  })

  it('a row above the limit is refused before it is in memory', () => {
    expect(cut(encode(`[1,"${'a'.repeat(8)}"]`), 3, 10)).toHaveLength(2)
    expect(() => cut(encode(`[1,"${'a'.repeat(9)}"]`), 3, 10)).toThrow('Row 2 is larger than 10 bytes')
  })
})
