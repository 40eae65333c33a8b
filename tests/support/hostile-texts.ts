/** A text made for breaking parsers and counters, at any length. */
export interface HostileText {
  name: string
  /** @param length in UTF-16 units; the text is a little shorter where a pattern would be cut apart */
  make(length: number): string
}

/** The longest text that the API takes. */
export const LONGEST_TEXT = 100_000

const FAMILY = '👨‍👩‍👧‍👦'

/** Single characters that mean something to some parser, and some that mean nothing to any. */
const CHARACTERS = [
  ...`!"#$%&'()*+,-./:;<=>?@[\\]^_\`{|}~`,
  ...['a', 'Z', '1', 'é', 'ß', 'Σ', '漢', '한', 'ﷺ', '👍', '＃', '＠'],
  ...[' ', '\t', '\n', '\r', '\u00a0', '\u0001', '\u007f', '\u00ad', '\u200b', '\u2028', '\u2029', '\ufeff', '\u3000'],
  ...['\u0301', '\u200d', '\ufe0f', '\u20e3', '\u{1f1e9}', '\ud83d', '\udc4d'],
]

/** Patterns that are repeated as they are. */
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

/** Prefixes that start a parser, before a run that never lets it finish. */
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

/** Every run with another kind of end, for patterns that search the end of a run at the end of the text. */
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
    name: 'marks of two classes, all of one and then all of the other',
    make: (length) => `a${repeat('\u0301', length / 2)}${repeat('\u0316', length / 2 - 1)}`,
  },
  {
    name: 'a host name of characters that are all different',
    make: (length) => `http://${different(length - 11)}.com`,
  },
  { name: 'words that are all different', make: (length) => spread(length, (index) => `#${index} `) },
  { name: 'links that are all different', make: (length) => spread(length, (index) => `http://a.b/${index} `) },
  { name: 'mentions that are all different', make: (length) => spread(length, (index) => `@a${index} `) },
  { name: 'paragraphs that are all different', make: (length) => spread(length, (index) => `${index}\n\n`) },
]

/** The hostile corpus: the one list of texts that every function and every route that takes text is tried with. */
export const HOSTILE_TEXTS: readonly HostileText[] = [...runs, ...ended, ...interrupted, ...shapes]

function repeat(pattern: string, length: number): string {
  return pattern.repeat(Math.max(0, Math.floor(length / pattern.length)))
}

function different(length: number): string {
  return Array.from({ length }, (_, index) => String.fromCodePoint(0x4e00 + (index % 20_000))).join('')
}

function spread(length: number, part: (index: number) => string): string {
  const parts: string[] = []
  for (let [index, total] = [0, 0]; ; index++) {
    total += part(index).length
    if (total > length) return parts.join('')
    parts.push(part(index))
  }
}
