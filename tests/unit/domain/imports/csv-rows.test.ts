import fc from 'fast-check'
import { parse } from 'csv-parse/sync'
import { stringify } from 'csv-stringify/sync'
import { describe, expect, it } from 'vitest'
import {
  CSV_COLUMNS,
  escapeCell,
  findSeparator,
  parseCsvRecord,
  readHeader,
  toCellProblem,
  toCsvRecord,
  toRecord,
  unescapeCell,
  type CsvRecord,
} from '../../../../src/domain/imports/csv-rows.ts'
import type { ExportedPost, ExportedSegment } from '../../../../src/domain/imports/imports.ts'
import { LATE_ACTIONS, LINK_MODES, UNSUPPORTED_POLICIES } from '../../../../src/domain/posts/post.ts'
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
const anySegment = fc.record(
  {
    text: fc.oneof(anyText, fc.constantFrom('---', 'a\n---\nb', '[1/2] a', '[{', '[]', '""')),
    mediaItems: anyMedia.filter((items) => items.length > 0),
  },
  { requiredKeys: ['text'] },
)
const anyFurther = {
  segments: fc.array(anySegment, { maxLength: 3 }),
  firstComment: anyText,
  onUnsupported: fc.constantFrom(...UNSUPPORTED_POLICIES),
  options: fc.record({
    mastodon: fc.record({ spoilerText: anyText, sensitive: fc.boolean() }, { requiredKeys: [] }),
    tumblr: fc.record({ tags: fc.array(anyText, { maxLength: 2 }) }),
  }),
  link: fc.oneof(
    fc.constantFrom(...LINK_MODES),
    fc.record({ url: fc.webUrl(), title: anyText, description: anyText }, { requiredKeys: ['url'] }),
  ),
}
const anyOverride = fc
  .record({ text: anyText, mediaItems: anyMedia, ...anyFurther }, { requiredKeys: [] })
  .filter((override) => Object.keys(override).length > 0)
const anyId = fc.string({ unit: fc.constantFrom(...'0123456789abcdef'), minLength: 24, maxLength: 24 })
const anyPost = fc.record(
  {
    content: fc.record(
      { text: anyText, mediaItems: anyMedia, ...anyFurther },
      { requiredKeys: ['text', 'mediaItems'] },
    ),
    selectedPlatforms: fc.subarray([...PLATFORMS]),
    selectedAccounts: fc.uniqueArray(anyId, { minLength: 1, maxLength: 3 }),
    platformSpecificContent: fc
      .dictionary(fc.constantFrom(...PLATFORMS), anyOverride, { minKeys: 1 })
      .map((overrides) => ({ ...overrides })),
    accountSpecificContent: fc.dictionary(anyId, anyOverride, { minKeys: 1 }).map((overrides) => ({ ...overrides })),
    scheduledAt: fc.constantFrom(null, '2027-05-01T09:30:00.000Z'),
    timezone: fc.constantFrom('UTC', 'Europe/Berlin'),
    ifLate: fc.record({ action: fc.constantFrom(...LATE_ACTIONS), afterMinutes: fc.integer({ min: 1, max: 1_440 }) }),
    status: fc.constantFrom('DRAFT' as const, 'SCHEDULED' as const),
  },
  { requiredKeys: ['content', 'selectedPlatforms', 'scheduledAt', 'timezone', 'status'] },
) as fc.Arbitrary<ExportedPost>

/** An absent time and none mean the same, and so do absent media, threads and comments and none. */
function withoutEmpty({ scheduledAt, content, ...post }: ExportedPost) {
  const { text, ...others } = content
  const stated = Object.fromEntries(Object.entries(others).filter(([, part]) => Object.keys(part).length > 0))
  return { ...post, content: { text, ...stated }, ...(scheduledAt !== null && { scheduledAt }) }
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
        const read = records.map((record) => parseCsvRecord(record))
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

  it('a cell names groups, separated by semicolons because their names may contain commas', () => {
    const { body, problems } = parseCsvRecord({ text: 'a', groups: 'Smith, Jones & Co; North ' })
    expect(problems).toEqual([])
    expect(body['selectedGroups']).toEqual(['Smith, Jones & Co', 'North'])
    const missing = { path: 'selectedGroups.1', code: 'GROUP_NOT_FOUND', message: 'You have no group' }
    expect(toCellProblem(missing)).toEqual({ ...missing, path: 'groups' })
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

  it('a cell has the further posts of a thread with lines between them', () => {
    const { body, problems } = parseCsvRecord({
      text: '[1/3] One',
      platforms: 'bluesky',
      segments: "'-2 degrees\r\n--- \r\n\r\n[3/3] Three\r\n---\r\n",
      firstComment: 'Sources below',
      onUnsupported: 'SKIPplatform',
      segments_mastodon: '[]',
      firstComment_mastodon: '""',
    })
    expect(problems).toEqual([])
    expect(body).toMatchObject({
      content: {
        text: '[1/3] One',
        segments: [{ text: '-2 degrees' }, { text: '[3/3] Three' }],
        firstComment: 'Sources below',
        onUnsupported: 'skipPlatform',
      },
      platformSpecificContent: { mastodon: { segments: [], firstComment: '' } },
    })
  })

  it('an exported thread is a text that people can edit, and a list where it has files', () => {
    const toThreadCell = (segments: ExportedSegment[]) =>
      toCsvRecord({
        ...{ content: { text: 'One', mediaItems: [], segments }, selectedPlatforms: ['bluesky'] },
        ...{ scheduledAt: null, timezone: 'UTC', status: 'DRAFT' },
      })['segments']
    expect(toThreadCell([{ text: 'Two' }, { text: 'Three' }])).toBe('Two\n---\nThree')
    const withFile = [{ text: 'Two', mediaItems: [{ storageKey: 'posts/a/1.png', mimeType: 'image/png' }] }]
    expect(toThreadCell(withFile)).toBe(JSON.stringify(withFile))
  })

  it.each([
    [{ media: 'sunrise; noon' }, 'media must have storage keys of uploads'],
    [{ media: '[{' }, 'media is not valid JSON'],
    [{ media_threads: 'a.txt' }, 'media_threads must have storage keys of uploads'],
    [{ accountContent: '{' }, 'accountContent is not valid JSON'],
    [{ segments: '[{' }, 'segments is not valid JSON'],
    [{ options_bluesky: '{' }, 'options_bluesky is not valid JSON'],
    [{ link: '{' }, 'link is not valid JSON'],
    [{ accountContent: '['.repeat(5_000) + ']'.repeat(5_000) }, 'accountContent is nested more than 32 levels deep'],
    [{ media: `[${'1,'.repeat(10_000)}1]` }, 'media has more than 10000 values'],
    [{ media: String.raw`[{"altText": "\u0000"}]` }, 'media.0.altText contains NUL characters'],
    [{ accounts: 'a;'.repeat(500_000) }, 'accounts must have at most 50 entries'],
    [{ platforms: ';'.repeat(500_000) }, 'platforms must have at most 50 entries'],
    [{ platforms: 'threads;bluski;x' }, 'platforms has "bluski", which is not a platform. Use bluesky.'],
    [{ platforms: 'x' }, 'platforms has "x", which is not a platform. Use bluesky, threads, '],
    [{ timezone: 'Berlin' }, 'timezone must be a name of the IANA time zone list'],
    [{ scheduledAt: '1.5.2090 9:30' }, 'scheduledAt does not say which number is the day'],
  ])('a wrong cell has one problem that names its column: %#', (cells, message) => {
    const { problems } = parseCsvRecord({ text: 'a', platforms: 'bluesky', ...(cells as Record<string, string>) })
    expect(problems).toMatchObject([{ path: Object.keys(cells)[0], message: expect.stringContaining(message) }])
  })

  it('names of platforms and statuses have any letter case, and lists have semicolons or commas', () => {
    const { body, problems } = parseCsvRecord({ text: 'a', platforms: 'Bluesky, THREADS;', status: 'draft' })
    expect(problems).toEqual([])
    expect(body).toMatchObject({ selectedPlatforms: ['bluesky', 'threads'], status: 'DRAFT' })
  })

  it.each([
    ['', undefined],
    [' None ', 'none'],
    ['auto', 'auto'],
    ['https://example.com/a', { url: 'https://example.com/a' }],
    ['{"url":"https://example.com/a","title":"A"}', { url: 'https://example.com/a', title: 'A' }],
  ])('the cell of a link is a word, an address or a card: %j', (cell, link) => {
    const { body, problems } = parseCsvRecord({ text: 'a', platforms: 'bluesky', link: cell, link_tumblr: cell })
    const overrides = body['platformSpecificContent'] as { tumblr?: { link?: unknown } } | undefined
    expect([problems, (body['content'] as { link?: unknown }).link, overrides?.tumblr?.link]).toEqual([[], link, link])
  })

  it('a problem of a post body names the column of its cell', () => {
    const toCell = (path: string) => toCellProblem({ path, code: 'TYPE', message: `${path} must be a text.` })
    expect(toCell('content.text')).toMatchObject({ path: 'text', message: 'text must be a text.' })
    expect(toCell('content.mediaItems.2.altText')).toMatchObject({
      path: 'media',
      message: 'media.2.altText must be a text.',
    })
    expect(toCell('platformSpecificContent.tumblr.text')).toMatchObject({ path: 'text_tumblr' })
    expect(toCell('content.segments.1.mediaItems.0')).toMatchObject({ path: 'segments' })
    expect(toCell('platformSpecificContent.tumblr.firstComment')).toMatchObject({ path: 'firstComment_tumblr' })
    expect(toCell('content.options.mastodon.poll')).toMatchObject({
      path: 'options',
      message: 'options.mastodon.poll must be a text.',
    })
    expect(toCell('platformSpecificContent.tumblr.options.tumblr')).toMatchObject({ path: 'options_tumblr' })
    expect(toCell('content.onUnsupported')).toMatchObject({ path: 'onUnsupported' })
    expect(toCell('selectedPlatforms.0')).toMatchObject({ path: 'platforms' })
    expect(toCell('accountSpecificContent.a.text')).toMatchObject({ path: 'accountContent' })
    expect(toCell('timezone')).toMatchObject({ path: 'timezone', message: 'timezone must be a text.' })
    expect(toCell('contents')).toMatchObject({ path: 'contents' })
  })
})

describe('the header of a CSV file', () => {
  it('names of columns have any letter case, and columns without a name may be empty', () => {
    const header = readHeader([' Platforms ', 'TEXT', '', 'text_Bluesky'])
    expect(header).toMatchObject({ columns: ['platforms', 'text', null, 'text_bluesky'], problems: [] })
    expect(toRecord(['bluesky', 'a', ' '], header)).toEqual({
      record: { platforms: 'bluesky', text: 'a' },
      problems: [],
      warnings: [],
    })
    expect(toRecord(['bluesky', 'a', 'b', '', '', 'c'], header).problems).toMatchObject([
      { path: '', message: expect.stringContaining('Cell 3 of the row, "b", is in a column without a name') },
    ])
  })

  it('blanks and underscores in names do not count', () => {
    const { columns } = readHeader(['text', 'Scheduled at', 'first_comment', 'On unsupported Tumblr'])
    expect(columns).toEqual(['text', 'scheduledAt', 'firstComment', 'onUnsupported_tumblr'])
  })

  it('a header needs the text, and each column once', () => {
    expect(readHeader(['text', 'media', 'Text', 'media', 'media']).problems.map(({ message }) => message)).toEqual([
      'The column text is there twice. Remove one.',
      'The column media is there twice. Remove one.',
    ])
    expect(readHeader(['platforms']).problems).toMatchObject([{ message: expect.stringContaining('text is missing') }])
  })

  it('a row with a cell in an unknown column is warned with the nearest name', () => {
    const header = readHeader(['text', 'scheduleAt', 'notes'])
    expect(header.problems).toEqual([])
    expect(toRecord(['a', '', ' '], header).warnings).toEqual([])
    expect(toRecord(['a', '2090-05-01', 'b'], header)).toMatchObject({
      record: { text: 'a' },
      problems: [],
      warnings: [
        { path: 'scheduleAt', code: 'UNKNOWN_FIELD', message: expect.stringContaining('Did you mean scheduledAt?') },
        { path: 'notes', code: 'UNKNOWN_FIELD', message: expect.stringContaining('Remove the column') },
      ],
    })
  })

  it.each([
    ['text,platforms', ','],
    ['text;platforms', ';'],
    ['text\tplatforms', '\t'],
    ['text', ','],
    ['"text";"Notes, internal"\na,b,c,d', ';'],
    ['\r\n;;\r\ntext;media', ';'],
    ['', ','],
  ])('the header %j determines the separator', (text, separator) => {
    expect(findSeparator(text)).toEqual({ separator, hasSeparatorLine: false })
  })

  it.each(['sep=;\r\ntext', '"sep=;"\ntext,a', 'SEP=;;;\ntext'])(
    'the first line of %j states the separator',
    (text) => {
      expect(findSeparator(text)).toEqual({ separator: ';', hasSeparatorLine: true })
    },
  )
})
