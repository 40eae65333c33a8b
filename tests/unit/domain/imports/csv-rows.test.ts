import fc from 'fast-check'
import { parse } from 'csv-parse/sync'
import { stringify } from 'csv-stringify/sync'
import { describe, expect, it } from 'vitest'
import {
  CSV_COLUMNS,
  escapeCell,
  findHeaderProblems,
  parseCsvRecord,
  toCsvRecord,
  unescapeCell,
  type CsvRecord,
} from '../../../../src/domain/imports/csv-rows.ts'
import type { ExportedPost } from '../../../../src/domain/imports/imports.ts'
import { PLATFORMS } from '../../../../src/domain/shared/platforms.ts'

const anyText = fc.oneof(
  fc.string({ unit: 'grapheme' }),
  fc.string({ unit: fc.constantFrom("'", '"', '=', '+', '-', '@', '\t', '\r', '\n', ',', ';', 'a', '\ufeff') }),
)
const anyMedia = fc.array(
  fc.record(
    {
      storageKey: fc.string({ minLength: 1 }),
      mimeType: fc.constantFrom('image/png', 'video/mp4'),
      altText: anyText,
      width: fc.nat(),
    },
    { requiredKeys: ['storageKey', 'mimeType'] },
  ),
  { maxLength: 3 },
)
const anyOverride = fc.oneof(
  fc.record({ text: anyText }),
  fc.record({ mediaItems: anyMedia }),
  fc.record({ text: anyText, mediaItems: anyMedia }),
)
const anyId = fc.string({ unit: fc.constantFrom(...'0123456789abcdef'), minLength: 24, maxLength: 24 })
const anyPost = fc.record(
  {
    content: fc.record({ text: anyText, mediaItems: anyMedia }),
    selectedPlatforms: fc.subarray([...PLATFORMS]),
    selectedAccounts: fc.uniqueArray(anyId, { minLength: 1, maxLength: 3 }),
    platformSpecificContent: fc
      .dictionary(fc.constantFrom(...PLATFORMS), anyOverride, { minKeys: 1 })
      .map((overrides) => ({ ...overrides })),
    accountSpecificContent: fc.dictionary(anyId, anyOverride, { minKeys: 1 }).map((overrides) => ({ ...overrides })),
    scheduledAt: fc.constantFrom(null, '2027-05-01T09:30:00.000Z'),
    timezone: fc.constantFrom('UTC', 'Europe/Berlin'),
    status: fc.constantFrom('DRAFT' as const, 'SCHEDULED' as const),
  },
  { requiredKeys: ['content', 'selectedPlatforms', 'scheduledAt', 'timezone', 'status'] },
) as fc.Arbitrary<ExportedPost>

/** An absent time and none mean the same, and so do absent media and none. */
function withoutEmpty({ scheduledAt, content, ...post }: ExportedPost) {
  const { text, mediaItems } = content
  return { ...post, content: mediaItems.length > 0 ? content : { text }, ...(scheduledAt !== null && { scheduledAt }) }
}

describe('the cells of a CSV file', () => {
  it('every post survives the way into a CSV file and back', () => {
    fc.assert(
      fc.property(fc.array(anyPost, { minLength: 1, maxLength: 4 }), (posts) => {
        const file = stringify(posts.map(toCsvRecord), {
          header: true,
          columns: CSV_COLUMNS,
          bom: true,
          quoted_string: true,
        })
        const records = parse<CsvRecord>(file, { bom: true, columns: true, skip_empty_lines: true })
        const read = records.map(parseCsvRecord)
        expect(read.map(({ problems }) => problems)).toEqual(posts.map(() => []))
        expect(read.map(({ body }) => body)).toEqual(posts.map(withoutEmpty))
      }),
    )
  })

  it('no exported text begins like a formula, and unescaping restores it', () => {
    fc.assert(
      fc.property(anyText, (text) => {
        const cell = escapeCell(text)
        expect(cell).not.toMatch(/^(?:\s*[=+\-@＝＋－＠]|[\t\r\n])/)
        expect(unescapeCell(cell)).toBe(text)
      }),
    )
  })

  it.each([
    ...['=1+1', '+49 30', '-1', '@ann', '\tx', '\rx', '\nx', '＝1'],
    ...[' =1', '\n=1', '\u00a0\u3000@a', '\u200b=1', '\ufeff+1', ' \u202e -1'],
  ])('the text %j gets an apostrophe', (text) => {
    expect(escapeCell(text)).toBe(`'${text}`)
  })

  it('a text that needs no escape stays as it is', () => {
    for (const text of ["'Tis the season", "''", "'", ' a', '1 = 1', ' ']) {
      expect(escapeCell(text)).toBe(text)
      expect(unescapeCell(text)).toBe(text)
    }
  })

  it('a media cell accepts storage keys whose ending says the type', () => {
    const { body, problems } = parseCsvRecord({
      text: 'a',
      platforms: 'bluesky',
      media: 'posts/a/1.png; posts/a/2.mp4',
    })
    expect(problems).toEqual([])
    expect(body['content']).toEqual({
      text: 'a',
      mediaItems: [
        { storageKey: 'posts/a/1.png', mimeType: 'image/png' },
        { storageKey: 'posts/a/2.mp4', mimeType: 'video/mp4' },
      ],
    })
  })

  it.each([
    [{ media: 'sunrise' }, 'media'],
    [{ media: '[{' }, 'media'],
    [{ media_threads: 'a.txt' }, 'media_threads'],
    [{ accountContent: '{' }, 'accountContent'],
  ])('the cells %j are a problem of the column %s', (cells, path) => {
    const { problems } = parseCsvRecord({ text: 'a', platforms: 'bluesky', ...(cells as Record<string, string>) })
    expect(problems).toMatchObject([{ path, code: 'INVALID' }])
  })

  it('a header needs known columns, each once, and the text', () => {
    expect(findHeaderProblems(['platforms', 'text'])).toEqual([])
    expect(findHeaderProblems(['text', 'text', 'Text'])).toHaveLength(2)
    expect(findHeaderProblems(['platforms'])).toEqual([expect.stringContaining('text is missing')])
  })
})
