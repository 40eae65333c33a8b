import { DOMAIN_ENDINGS } from '../shared/domain-endings.ts'

/**
 * The text that Mastodon 4.3 to 4.5 counts: links as `linkLength` characters, mentions without their server. What it takes
 * for a link follows its `twitter_regex.rb` and twitter-text 3.1.0: a scheme, a host that ends in a known domain (no IP
 * address, no private name), and a path that may contain any script. Written as a scanner, because the server's regular
 * expressions take quadratic time.
 */
export function shortenForMastodon(text: string, linkLength: number): string {
  const entities = [...findLinks(text, linkLength), ...findMentions(text)].sort((one, other) => one.start - other.start)
  const parts: string[] = []
  let at = 0
  for (const { start, end, counted } of entities) {
    if (start < at) continue
    parts.push(text.slice(at, start), counted)
    at = end
  }
  return [...parts, text.slice(at)].join('')
}

interface Entity {
  start: number
  end: number
  /** The characters that are counted in its place. */
  counted: string
}

/** Everything that may be in a host; all but `.`, `_` and `-` may also begin and end a part of it. */
const HOST_RUN =
  /[^\u{61c}\u{200e}\u{200f}\u{202a}-\u{202e}\u{2066}-\u{2069}!"#$%&'()*+,/:;<=>?@[\]^`{|}~\0-\x20\x7f\u{85}\u{a0}\u{1680}\u{180e}\u{2000}-\u{200a}\u{2028}\u{2029}\u{202f}\u{205f}\u{3000}\u{feff}\u{fffe}\u{ffff}]+/gu
const SCHEME = /(?:https?|dat|dweb|ipfs|ipns|ssb|gopher|gemini):\/\/$/i
const LONGEST_SCHEME = 'gemini://'.length
/** Characters that no link follows directly. */
const NOT_BEFORE_LINK = /[a-z0-9@＠$#＃\u{feff}\u{fffe}\u{ffff}]/iu
const PORT = /:[0-9]+/y
const PATH = /[^\p{White_Space}<>()?]+/uy
const BRACKETS =
  /\((?:[^\p{White_Space}<>()?]+|[^\p{White_Space}<>()?]*\([^\p{White_Space}<>()?]+\)[^\p{White_Space}<>()?]*)\)/uy
/** Brackets at the end of a path belong to it only if they contain nothing but these. */
const PLAIN_BRACKETS =
  /^[\u{300}-\u{36f}a-z\p{Script=Cyrillic}0-9!*';:=+,.$/%#[\]\p{Pd}_~&|@()\u{c0}-\u{d6}\u{d8}-\u{f6}\u{f8}-\u{24f}\u{253}\u{254}\u{256}\u{257}\u{259}\u{25b}\u{263}\u{268}\u{26f}\u{272}\u{289}\u{28b}\u{2bb}\u{1e00}-\u{1eff}]+$/iu
const NO_PATH_END = new Set(`!*"'「」<>;:=,.$%[]~&|@`)
const QUERY =
  /\?[a-z0-9!?*'();:&=+$/%#[\]\-_.,~|@^\u{a0}-\u{d7ff}\u{e000}-\u{fdcf}\u{fdf0}-\u{ffef}\u{10000}-\u{10fffd}]*/iuy
const NO_QUERY_END = new Set(`!?*'();:+$%[].,~|@^`)
const SHORTENED = /^https?:\/\/t\.co\/([a-z0-9]+)/i
const LONGEST_SHORTENED = 40
const LONGEST_LINK = 4_096
/** Not part of a host in ASCII: emoji, because the server checks host names with Unicode 3.2, and the backslash. */
const NO_HOST = /[\\\u{1f000}-\u{1ffff}]/u

function findLinks(text: string, linkLength: number): Entity[] {
  const found: Entity[] = []
  if (!text.includes(':')) return found
  /** Where the last match ended, of a link or of a host without scheme: what it covers starts no other. */
  let covered = 0
  const mayStart = (start: number) =>
    start === 0 || text[start - 1] === '\n' || (start > covered && !NOT_BEFORE_LINK.test(text[start - 1]!))

  for (const { 0: characters, index } of text.matchAll(HOST_RUN)) {
    const runEnd = index + characters.length
    const hosts = findHosts(text, index, characters)
    for (let start = Math.max(index, covered); start < runEnd;) {
      const scheme =
        start === index ? SCHEME.exec(text.slice(Math.max(covered, start - LONGEST_SCHEME), start))?.[0] : undefined
      const hasScheme = scheme !== undefined && mayStart(start - scheme.length)
      const withScheme = hasScheme ? hosts.read(start).end : null
      const mayNot = (at: number) => /[._-]/.test(text[at]!) || !mayStart(at)
      while (withScheme === null && start < runEnd && mayNot(start)) start += 1
      const { end, next } = hosts.read(start)
      if (end === null) {
        start = next
        continue
      }
      covered = readRest(text, end)
      if (withScheme !== null) {
        const link = toLink(text, start - scheme!.length, covered, text.slice(start, end))
        if (link) found.push({ ...link, counted: 'x'.repeat(linkLength) })
      }
      start = covered
    }
  }
  return found
}

/**
 * Finds the hosts in characters that may all be in one. All parts are read once, from the last to the first, which keeps
 * the time linear.
 */
function findHosts(text: string, runStart: number, characters: string) {
  const runEnd = runStart + characters.length
  /** By the start of each part: what follows if a host begins with the whole part. */
  const chains = new Map<number, { end: number | null; next: number }>()
  const ends = [...characters.matchAll(/\./g)].map((dot) => runStart + dot.index)
  for (const [index, dot] of [...ends.entries()].reverse()) {
    const start = index === 0 ? runStart : ends[index - 1]! + 1
    chains.set(start, chain(start, dot))
  }

  /** A host that begins at `start`, and whose first part ends with `dot`. Without one, none starts before `next`. */
  function chain(start: number, dot: number): { end: number | null; next: number } {
    const part = text.slice(start, dot)
    if (part === '' || /^[_-]|[_-]$/.test(part)) return { end: null, next: dot + 1 }
    const longer = chains.get(dot + 1) ?? { end: null, next: runEnd }
    const ending = longer.end === null ? readEnding(text, dot + 1) : 0
    if (ending === 0) return longer
    const underscore = part.lastIndexOf('_')
    // Only a subdomain has underscores: the host starts behind them.
    return underscore === -1 ? { end: dot + 1 + ending, next: runEnd } : { end: null, next: start + underscore + 1 }
  }

  let nextDot = 0
  return {
    /** @param start never before that of an earlier call */
    read(start: number): { end: number | null; next: number } {
      while (nextDot < ends.length && ends[nextDot]! < start) nextDot += 1
      const dot = ends[nextDot]
      return dot === undefined ? { end: null, next: runEnd } : chain(start, dot)
    },
  }
}

const LONGEST_ENDING = Math.max(...[...DOMAIN_ENDINGS].map(({ length }) => length))
const PUNYCODE = /xn--[0-9a-z]+/iy

/** Returns the length of the domain ending that starts here; 0 for none. */
function readEnding(text: string, at: number): number {
  for (let length = LONGEST_ENDING; length > 0; length -= 1) {
    const isKnown = DOMAIN_ENDINGS.has(text.slice(at, at + length).toLowerCase())
    if (isKnown && at + length <= text.length && !/^[0-9a-z@+-]/i.test(text.slice(at + length, at + length + 1))) {
      return length
    }
  }
  PUNYCODE.lastIndex = at
  return PUNYCODE.exec(text)?.[0].length ?? 0
}

/** Returns the end of a link from the end of its host: behind port, path and query. */
function readRest(text: string, hostEnd: number): number {
  const portEnd = endOf(PORT, text, hostEnd) ?? hostEnd
  const pathEnd = text[portEnd] === '/' ? readPath(text, portEnd + 1) : portEnd
  const queryEnd = endOf(QUERY, text, pathEnd)
  if (queryEnd === null) return pathEnd
  const end = lastIndexOutside(NO_QUERY_END, text, pathEnd, queryEnd)
  return end > pathEnd ? end : pathEnd
}

/** Returns the end of a path: behind the last character, or the last pair of brackets, that may end one. */
function readPath(text: string, start: number): number {
  let [at, end] = [start, start]
  for (;;) {
    const plainEnd = endOf(PATH, text, at) ?? at
    const last = lastIndexOutside(NO_PATH_END, text, at, plainEnd)
    if (last > at) end = last
    const bracketsEnd = endOf(BRACKETS, text, plainEnd)
    if (bracketsEnd === null) return end
    if (PLAIN_BRACKETS.test(text.slice(plainEnd, bracketsEnd))) end = bracketsEnd
    at = bracketsEnd
  }
}

function endOf(pattern: RegExp, text: string, at: number): number | null {
  pattern.lastIndex = at
  return pattern.test(text) ? pattern.lastIndex : null
}

/** Returns the index behind the last character from `start` to `end` that is not in the set, else `start`. */
function lastIndexOutside(set: ReadonlySet<string>, text: string, start: number, end: number): number {
  let at = end
  while (at > start && set.has(text[at - 1]!)) at -= 1
  return at
}

/** Returns null for a host that has no form in ASCII, and for a link that is too long. */
function toLink(text: string, start: number, end: number, host: string): Pick<Entity, 'start' | 'end'> | null {
  const url = text.slice(start, end)
  const [shortened, path = ''] = SHORTENED.exec(url) ?? []
  if (path.length > LONGEST_SHORTENED || NO_HOST.test(host) || !URL.canParse(`http://${host}`)) return null
  const ascii = new URL(`http://${host}`).hostname
  const length = (shortened ?? url).length + Math.max(0, ascii.length - host.length)
  if (length > LONGEST_LINK || ascii.split('.').some((part) => part.length > LONGEST_HOST_PART)) return null
  return { start, end: start + (shortened ?? url).length }
}

const LONGEST_HOST_PART = 63

/** Words and separators alternate, so that a name matches in only one way. Any other form takes quadratic time. */
const MENTION =
  /(?<![=/\p{Alphabetic}\p{M}\p{Nd}\p{Pc}])@([a-z0-9_]+(?:[.-]+[a-z0-9_]+)*)(?:@([\p{Alphabetic}\p{M}\p{Nd}\p{Pc}]+(?:[.-]+[\p{Alphabetic}\p{M}\p{Nd}\p{Pc}]+)*))?/giu
const LONGEST_DOMAIN = 253

function findMentions(text: string): Entity[] {
  return [...text.matchAll(MENTION)]
    .map(({ 0: found, 1: name, 2: domain = '', index }) => ({
      start: index,
      end: index + found.length,
      counted: `@${name}`,
      domain,
    }))
    .filter(({ end, domain }) => domain.length <= LONGEST_DOMAIN && !/^(?:[@＠]|:\/\/)/.test(text.slice(end, end + 3)))
}
