/** A text of any length that is designed to break parsers and counters. */
export interface HostileText {
  name: string
  /** @param length in UTF-16 units; the text may be slightly shorter, because patterns are never cut */
  make(length: number): string
}

/** The longest text that the API accepts. */
export const LONGEST_TEXT = 100_000

const FAMILY = '👨‍👩‍👧‍👦'

/** Single characters. Most are special to some parser. */
const CHARACTERS = [
  ...`!"#$%&'()*+,-./:;<=>?@[\\]^_\`{|}~`,
  ...['a', 'Z', '1', 'é', 'ß', 'Σ', '漢', '한', 'ﷺ', '👍', '＃', '＠'],
  ...[' ', '\t', '\n', '\r', '\u00a0', '\u0001', '\u007f', '\u00ad', '\u200b', '\u2028', '\u2029', '\ufeff', '\u3000'],
  ...['\u0301', '\u200d', '\ufe0f', '\u20e3', '\u{1f1e9}', '\ud83d', '\udc4d'],
]

/** Patterns that are repeated unchanged. */
const PATTERNS = [
  ...['a\n\n', '\n ', ' \n', '\r\n', '\r\n\r\n', 'a ', ' a', 'a\u2028', ' .', '. ', '.\n'],
  ...['@a', 'a@', '@a@', '@a@b ', '@a.b@c.d ', '@.', '.@', 'a.', '.a', '-.', 'a-', '_.', '@a-b.c'],
  ...['#a', '#a ', '#1', '# ', '#_', '##a', '&#', '&#1', '&#x', '&amp;', '&a', '$A ', '#é\u0301 '],
  ...['http://', 'https://a', 'http://a.', 'http://a.b ', 'http://a.b/', 'https://a.b/c)', 'http://é.é ', 'a.com '],
  ...[
    '<a',
    '<p>',
    '</p>',
    '</p> ',
    '<br',
    '<br/>',
    '<p',
    'a>',
    '</',
    '```',
    '``` ',
    '"a',
    '\'"',
    '\\"',
    '\\u',
    '%2',
    '%25',
  ],
  ...['()', '[]', '{}', '([{', '(a', ')a', '[a]', '{a:', '../', './', '//', ':a', '=,', 'a,', ', ', ';a', '+0', '0-'],
  ...[
    'é\u0301',
    'a\u0301\u0316',
    '\u0301\u0316',
    '\u0316\u0301',
    'a\u200d',
    '👩\u200d',
    FAMILY,
    `${FAMILY} `,
    '👍🏽',
    '🇩🇪',
    '1\ufe0f\u20e3',
  ],
  ...['\ud83da', '\udc4d\ud83d', '1 ', '00', '1.', '1:', '-1', 'T1', 'Z[', 'Aa', 'ſ', 'İ', 'ΣΣ.'],
]

/** Prefixes at which a parser starts a match. The repeated body after them never completes it. */
const HEADS = [
  '@',
  '@a@',
  '#',
  'http://',
  'http://a.b',
  'a@',
  '<',
  '</p>',
  '<br',
  '&#',
  '&',
  '```',
  '2026-01-01T00:00:00',
  'Bearer ',
]
const BODIES = ['a', '1', '.', ' ', ')', 'a.', '.-', '\u0301']
/** Ends that make a match fail at its last character. */
const ENDS = ['', '!', '@', ' x']

const runs = [...CHARACTERS, ...PATTERNS].map((pattern): HostileText => ({
  name: JSON.stringify(pattern),
  make: (length) => repeat(pattern, length),
}))

/** Runs of one character before a letter, for patterns that expect the run at the end of the text. */
const ended = CHARACTERS.map((character): HostileText => ({
  name: `${JSON.stringify(character)} repeated, then a letter`,
  make: (length) => `${repeat(character, length - 1)}b`,
}))

const interrupted = ['', ...HEADS].flatMap((head, index) =>
  BODIES.map((body, offset): HostileText => {
    const end = ENDS[(index + offset) % ENDS.length]!
    return {
      name: `${JSON.stringify(head)}, ${JSON.stringify(body)} repeated, ${JSON.stringify(end)}`,
      make: (length) => head + repeat(body, length - head.length - end.length) + end,
    }
  }),
)

const shapes: HostileText[] = [
  ...['()', '[]', '{}', '<>'].map(([open, close]): HostileText => ({
    name: `${open}${close} nested`,
    make: (length) => repeat(open!, length / 2) + repeat(close!, length / 2),
  })),
  {
    name: 'combining marks of one class before those of another',
    make: (length) => `a${repeat('\u0301', length / 2)}${repeat('\u0316', length / 2 - 1)}`,
  },
  {
    name: 'a host name with no character twice',
    make: (length) => `http://${buildDistinct(length - 11)}.com`,
  },
  { name: 'distinct hashtags', make: (length) => joinUpTo(length, (index) => `#${index} `) },
  { name: 'distinct links', make: (length) => joinUpTo(length, (index) => `http://a.b/${index} `) },
  { name: 'distinct mentions', make: (length) => joinUpTo(length, (index) => `@a${index} `) },
  { name: 'distinct paragraphs', make: (length) => joinUpTo(length, (index) => `${index}\n\n`) },
]

/** The hostile corpus, with which every function and every route that accepts text is tested. */
export const HOSTILE_TEXTS: readonly HostileText[] = [...runs, ...ended, ...interrupted, ...shapes]

function repeat(pattern: string, length: number): string {
  return pattern.repeat(Math.max(0, Math.floor(length / pattern.length)))
}

function buildDistinct(length: number): string {
  return Array.from({ length }, (_, index) => String.fromCodePoint(0x4e00 + (index % 20_000))).join('')
}

/** Joins the parts from index 0 on, as many as fit. */
function joinUpTo(length: number, part: (index: number) => string): string {
  const parts: string[] = []
  for (let [index, total] = [0, 0]; ; index++) {
    total += part(index).length
    if (total > length) return parts.join('')
    parts.push(part(index))
  }
}
