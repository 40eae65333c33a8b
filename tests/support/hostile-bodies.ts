import { gzipSync } from 'node:zlib'

/** The hostile corpus of what requests and responses carry beside texts: JSON, tables, forms, queries and headers that are expensive to build. */
const MIB = 1_048_576

export const arrays = (bytes: number) => `[${'[],'.repeat(bytes / 3 - 1)}[]]`
const nested = (bytes: number) => '['.repeat(bytes / 2) + ']'.repeat(bytes / 2)
const objects = (bytes: number) => `${'{"a":'.repeat(bytes / 6)}1${'}'.repeat(bytes / 6)}`
const names = (bytes: number) => {
  const members = Array.from({ length: bytes / 14 }, (_, index) => `"k${String(index).padStart(8, '0')}":0`)
  return `{${members.join(',')}}`
}
const equalNames = (bytes: number) => `{${'"a":0,'.repeat(bytes / 6 - 1)}"a":0}`
const text = (bytes: number) => `{"email":"${'a'.repeat(bytes - 12)}"}`
const escapes = (bytes: number) => `{"email":"${String.raw`\"`.repeat(bytes / 2 - 6)}"}`
const digits = (bytes: number) => `{"email":${'9'.repeat(bytes - 10)}}`
const exponents = (bytes: number) => `[${'1e400,'.repeat(bytes / 6 - 1)}1e400]`
const wide = (bytes: number) => `{"prompt":"${'\u{1f4a9}'.repeat(bytes / 4 - 4)}"}`
const unclosed = (bytes: number) => '{"a":['.repeat(bytes / 6)
const blanks = (bytes: number) => ' '.repeat(bytes)

/** JSON of about so many bytes. */
export const JSON_SHAPES: Record<string, (bytes: number) => string> = {
  ...{ arrays, nested, objects, names, equalNames, text, escapes, digits, exponents, wide, unclosed, blanks },
}
/** For sizes at which a single shape of each kind is enough. */
export const LARGE_JSON_SHAPES = { arrays, nested, equalNames, escapes, unclosed }

/** Bodies of types that no route takes. */
export const OTHER_BODIES: Record<string, { type: string; make: (bytes: number) => string }> = {
  form: { type: 'application/x-www-form-urlencoded', make: (bytes) => 'a[]=&'.repeat(bytes / 5) },
  multipart: {
    type: 'multipart/form-data; boundary=x',
    make: (bytes) => '--x\r\ncontent-disposition: form-data; name=a\r\n\r\n\r\n'.repeat(bytes / 50),
  },
}

/** Query strings of about so many characters. @param names the parameters that the route documents */
export const QUERIES: Record<string, (length: number, names: readonly string[]) => string> = {
  names: (length) => Array.from({ length: length / 6 }, (_, index) => `a${index % 10_000}`).join('&'),
  'equal names': (length) => '__proto__=&'.repeat(length / 11),
  nested: (length) => `a${'[b]'.repeat(length / 3 - 2)}=1`,
  'repeated values': (length, names) => repeatNames(length, names, '1'),
  lists: (length, names) => names.map((name) => `${name}=${','.repeat(length / names.length - 20)}`).join('&'),
  'long values': (length, names) => names.map((name) => `${name}=${'9'.repeat(length / names.length - 20)}`).join('&'),
  escapes: (length, names) => names.map((name) => `${name}=${'%f0'.repeat(length / names.length / 3 - 8)}`).join('&'),
}

function repeatNames(length: number, names: readonly string[], value: string): string {
  return names
    .map((name) => `${name}=${value}&`.repeat(length / names.length / (name.length + value.length + 2)))
    .join('')
}

/** The headers that the service reads, each with about so many characters. */
export const HEADERS: Record<string, (length: number) => Record<string, string>> = {
  ...Object.fromEntries(
    [
      ...['accept', 'content-type', 'idempotency-key', 'if-match', 'if-none-match', 'last-event-id', 'origin'],
      ...['prefer', 'stripe-signature', 'traceparent', 'user-agent', 'x-forwarded-for', 'x-request-id'],
      'x-verification-token',
    ].map((name) => [name, (length: number) => ({ [name]: 'a, '.repeat(length / 3) })]),
  ),
  authorization: (length) => ({ authorization: `Bearer ${'a.'.repeat(length / 2)}` }),
  'authorization with blanks': (length) => ({ authorization: `Bearer${' '.repeat(length)}x y` }),
  cookie: (length) => ({ cookie: `verificationToken=${'x'.repeat(length)}` }),
  cookies: (length) => ({ cookie: 'refreshToken=x; '.repeat(length / 16) }),
  'a refresh cookie': () => ({ cookie: `refreshToken=${'0'.repeat(24)}.${'x'.repeat(43)}` }),
  headers: (length) => Object.fromEntries(Array.from({ length: length / 10 }, (_, index) => [`x-${index}`, '1'])),
}

const FIFTEEN = 15 * MIB
const csv = (...lines: string[]) => ['text,platforms,accounts,media,accountContent', ...lines].join('\n')
const json = (rows: string[]) => `[${rows.join(',')}]`
const rowsOf = (row: string, count: number) => Array.from({ length: count }, () => row)
/** A text that is just short enough for a row, with what counts links, tags and lengths. */
const longText = (length: number) => '#é\u0301 http://a.b/c) @a.b '.repeat(length / 22)

/** Files that were built to exhaust an import, with what the plan or the refusal says of them. */
export const IMPORT_FILES: [name: string, type: 'csv' | 'json', make: () => string | Buffer, answer: string][] = [
  ['a header of 100,000 names', 'csv', () => rowsOf('name', 100_000).join(','), 'has more than 100 cells'],
  ['a header that is too long', 'csv', () => 'x'.repeat(FIFTEEN), 'is larger than 1048576 characters'],
  ['500,000 empty cells', 'csv', () => csv(','.repeat(500_000)), 'has more than 100 cells'],
  ['commas', 'csv', () => ','.repeat(FIFTEEN), 'has more than 100 cells'],
  ['commas in UTF-16', 'csv', () => Buffer.from(csv(','.repeat(FIFTEEN / 2)), 'utf16le'), 'has more than 100 cells'],
  ['quoted commas', 'csv', () => csv('",",'.repeat(FIFTEEN / 4)), 'has more than 100 cells'],
  ['an open quote', 'csv', () => csv(`"${'a,\n'.repeat(FIFTEEN / 3)}`), 'or a quote is not closed'],
  ['doubled quotes', 'csv', () => csv(`"${'""'.repeat(FIFTEEN / 2)}`), 'or a quote is not closed'],
  ['empty lines', 'csv', () => csv('\n'.repeat(FIFTEEN)), 'The file has no rows'],
  ['empty rows', 'csv', () => csv(',\n'.repeat(FIFTEEN / 2)), 'has more than 50000 rows'],
  ['short rows', 'csv', () => csv('a\n'.repeat(FIFTEEN / 2)), 'at most 10000 rows'],
  [
    'half a million entries in lists',
    'csv',
    () => csv(rowsOf(`a,${';'.repeat(500_000)},"${'a,'.repeat(250_000)}",,`, 10).join('\n')),
    '"error":10,',
  ],
  [
    'cells nested 5,000 deep',
    'csv',
    () => csv(rowsOf(`a,bluesky,,,${'['.repeat(5_000)}`, 1_500).join('\n')),
    '"error":1500,',
  ],
  [
    'cells with many values',
    'csv',
    () => csv(rowsOf(`a,bluesky,,"[${'1,'.repeat(600)}1]",`, 10_000).join('\n')),
    '"error":10000,',
  ],
  ['rows without anything that is needed', 'csv', () => csv(rowsOf(',x;y,z,[,{', 10_000).join('\n')), '"error":10000,'],
  [
    'texts of 100,000 characters',
    'csv',
    () => csv(rowsOf(`"${longText(99_000)}","bluesky;threads;instagram;facebook;mastodon;tumblr",,,`, 100).join('\n')),
    '"error":100,',
  ],
  ['arrays', 'json', () => arrays(FIFTEEN), 'at most 10000 rows'],
  ['nested arrays', 'json', () => nested(FIFTEEN), 'is larger than 1048576 bytes'],
  [
    'nested objects',
    'json',
    () => json(rowsOf('['.repeat(5_000) + ']'.repeat(5_000), 1_500)),
    'is nested more than 32 levels deep',
  ],
  ['names', 'json', () => json([names(MIB - 14)]), 'has more than 10000 values'],
  ['an open text', 'json', () => `["${'a'.repeat(FIFTEEN)}`, 'is larger than 1048576 bytes'],
  ['blanks', 'json', () => blanks(FIFTEEN), 'is not a JSON array'],
  ['UTF-16', 'json', () => Buffer.from(arrays(FIFTEEN / 2), 'utf16le'), 'at most 10000 rows'],
  [
    'values that are not allowed',
    'json',
    () => json(rowsOf(`{"content":{"mediaItems":[${'1,'.repeat(700)}1]}}`, 10_000)),
    '"error":10000,',
  ],
  [
    'texts of 100,000 characters',
    'json',
    () =>
      json(
        rowsOf(
          JSON.stringify({
            content: { text: longText(99_000) },
            selectedPlatforms: ['bluesky', 'threads', 'instagram', 'facebook', 'mastodon', 'tumblr'],
          }),
          100,
        ),
      ),
    '"error":100,',
  ],
]

/** A response that was built to exhaust whoever reads it. */
export interface HostileResponse {
  headers?: Record<string, string>
  body: () => string | Buffer
  /** Sends the body without end. */
  isEndless?: boolean
}

/** Inside of the response are fields that readers parse again or compare. */
const wrapped = (text: string) =>
  JSON.stringify({
    choices: [{ message: { content: text } }],
    ...{ did: 'did:plc:x', handle: 'ann.example.com', accessJwt: `x.${Buffer.from(text).toString('base64url')}.x` },
    ...{ refreshJwt: 'x', access_token: 'x', expires_in: 60, id: '1', username: 'ann' },
  })

const HTML = { 'content-type': 'text/html' }

/** Pages that were built to exhaust a parser. */
const HOSTILE_PAGES: Record<string, () => string | Buffer> = {
  'nested elements': () => '<b>'.repeat(MIB / 3),
  'nested heads': () => '<noscript>'.repeat(MIB / 10),
  'attributes of an element': () => `<meta ${Array.from({ length: MIB / 8 }, (_, index) => `a${index}`).join(' ')}>`,
  'equal attributes': () => `<meta ${'content=x '.repeat(MIB / 10)}>`,
  'elements that close each other': () => '<p><li><option><td>'.repeat(MIB / 19),
  'ends without beginnings': () => '</b>'.repeat(MIB / 4),
  descriptions: () => '<meta property="og:title" content="x">'.repeat(MIB / 38),
  'a title of directions': () => `<title>${'\u202e \u0007'.repeat(MIB / 5)}</title>`,
  'a title of combining marks': () => `<title>a${'\u0301'.repeat(MIB / 2)}</title>`,
  'references to characters': () => `<title>${'&CounterClockwiseContourIntegral;&'.repeat(MIB / 34)}</title>`,
  'an open comment': () => `<!--${'--!'.repeat(MIB / 3)}`,
  'an open script': () => `<script>${'</scrip '.repeat(MIB / 8)}`,
  'declarations of encodings': () => `<meta ${'charset '.repeat(MIB / 8)}`,
  'a page in UTF-16': () => Buffer.from(`\ufeff<title>${'a'.repeat(MIB / 2)}`, 'utf16le'),
  'half characters in Shift_JIS': () =>
    Buffer.concat([Buffer.from('<meta charset=shift_jis>'), Buffer.alloc(MIB, 0x93)]),
}

/** Responses of other servers. Most have as much as the longest that is read. */
export const HOSTILE_RESPONSES: Record<string, HostileResponse> = {
  ...Object.fromEntries(
    Object.entries(JSON_SHAPES).flatMap(([shape, make]): [string, HostileResponse][] => [
      [shape, { body: () => make(2 * MIB - 100) }],
      [`${shape} inside of fields`, { body: () => wrapped(make(MIB / 2)) }],
    ]),
  ),
  ...Object.fromEntries(
    Object.entries(LARGE_JSON_SHAPES).map(([shape, make]) => [
      `${shape} of 8 MiB`,
      { body: () => make(8 * MIB - 100) },
    ]),
  ),
  ...Object.fromEntries(
    Object.entries(HOSTILE_PAGES).map(([shape, body]) => [`a page of ${shape}`, { headers: HTML, body }]),
  ),
  'arrays after a byte order mark': { body: () => `\ufeff${arrays(2 * MIB - 100)}` },
  'arrays without end': { body: () => arrays(MIB).slice(0, -1), isEndless: true },
  'a page without end': { body: () => '<p>'.repeat(100_000), isEndless: true },
  'compressed blanks': { headers: { 'content-encoding': 'gzip' }, body: () => gzipSync(blanks(200 * MIB)) },
  'compressed arrays': { headers: { 'content-encoding': 'gzip' }, body: () => gzipSync(arrays(30 * MIB)) },
  'a long header': { headers: { 'retry-after': '9'.repeat(15_000) }, body: () => '{}' },
}
