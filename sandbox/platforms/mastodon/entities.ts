import { domainToASCII } from 'node:url'
import { DOMAIN_ENDINGS } from '../../../src/domain/shared/domain-endings.ts'

/**
 * Finds links and mentions with the server's own patterns, composed in the order in which it composes them:
 * - links: twitter-text 3.1.0, `rb/lib/twitter-text/regex.rb` and `extractor.rb`, with the path, query and scheme rules
 *   of Mastodon's `config/initializers/twitter_regex.rb` (commit 3208bd8a)
 * - mentions: `MENTION_RE` of `app/models/account.rb` since 4.3, and `app/lib/extractor.rb`
 *
 * All were read in November 2026.
 */

const DIRECTION = String.raw`\u{61c}\u{200e}\u{200f}\u{202a}-\u{202e}\u{2066}-\u{2069}`
const SPACES = String.raw`\u{9}-\u{d}\u{20}\u{85}\u{a0}\u{1680}\u{180e}\u{2000}-\u{200a}\u{2028}\u{2029}\u{202f}\u{205f}\u{3000}`
const INVALID = String.raw`\u{fffe}\u{feff}\u{ffff}`
const PUNCTUATION = String.raw`!"#$%&'\(\)*+,\-.\/:;<=>?@\[\]\^_\x60{|}~`
const ACCENTS = String.raw`\u{c0}-\u{d6}\u{d8}-\u{f6}\u{f8}-\u{24f}\u{253}\u{254}\u{256}\u{257}\u{259}\u{25b}\u{263}\u{268}\u{26f}\u{272}\u{289}\u{28b}\u{2bb}\u{300}-\u{36f}\u{1e00}-\u{1eff}`

const preceding = String.raw`(?:[^A-Z0-9@＠$#＃${INVALID}]|[${DIRECTION}]|^)`
const inHost = String.raw`[^${DIRECTION}${PUNCTUATION}${SPACES}\u{0}-\u{1f}\u{7f}${INVALID}]`
const subdomain = String.raw`(?:(?:${inHost}(?:[_\-]|${inHost})*)?${inHost}\.)`
const domainName = String.raw`(?:(?:${inHost}(?:[\-]|${inHost})*)?${inHost}\.)`
const topLevel = String.raw`(?:(?:${[...DOMAIN_ENDINGS].join('|')})(?=[^0-9a-z@+\-]|$))`
const domain = String.raw`(?:${subdomain}*${domainName}(?:${topLevel}|xn--[0-9a-z]+))`

const inBracketsAtEnd = String.raw`[a-z\p{Script=Cyrillic}0-9!*';:=+,.$\/%#\[\]\p{Pd}_~&\|@${ACCENTS}]`
const inPath = String.raw`[^\p{White_Space}<>\(\)?]`
const brackets = (inside: string) => String.raw`\((?:${inside}+|(?:${inside}*\(${inside}+\)${inside}*))\)`
const pathEnd = String.raw`(?:[^\p{White_Space}\(\)?!*"'「」<>;:=,.$%\[\]~&\|@]|(?:${brackets(inBracketsAtEnd)}))`
const path = String.raw`(?:(?:${inPath}*(?:${brackets(inPath)}${inPath}*)*${pathEnd})|(?:${inPath}+\/))`

const OTHER_SCRIPTS = String.raw`\u{a0}-\u{d7ff}\u{f900}-\u{fdcf}\u{fdf0}-\u{ffef}\u{e000}-\u{f8ff}\u{10000}-\u{10fffd}`
const inQuery = String.raw`[a-z0-9!?*'\(\);:&=+$\/%#\[\]\-_.,~\|@\^${OTHER_SCRIPTS}]`
const queryEnd = String.raw`[a-z0-9_&=#\/\-${OTHER_SCRIPTS}]`
const scheme = String.raw`(?:https?|dat|dweb|ipfs|ipns|ssb|gopher|gemini):\/\/`

const LINK = new RegExp(
  String.raw`(${preceding})((${scheme})?(${domain})(?::[0-9]+)?(?:\/${path}*)?(?:\?${inQuery}*${queryEnd})?)`,
  'gimu',
)
const word = String.raw`[\p{Alphabetic}\p{M}\p{Nd}\p{Pc}]`
const MENTION = new RegExp(
  String.raw`(?<![=\/]|${word})@([a-z0-9_]+(?:[.\-]+[a-z0-9_]+)*(?:@${word}+(?:[.\-]+${word}+)*)?)`,
  'giu',
)
const AFTER_NO_MENTION = new RegExp(String.raw`^(?:[@＠]|[${ACCENTS}]|:\/\/)`, 'iu')
const SHORTENED = /^https?:\/\/t\.co\/([a-z0-9]+)/i
const LONGEST = { shortened: 40, url: 4_096, hostPart: 63, mentionedHost: 253 }

interface Entity {
  kind: 'link' | 'mention'
  start: number
  end: number
  /** The URL, or the name with its server. */
  value: string
}

/** Returns the links and mentions of a text in their order. Of two that overlap, the first counts. */
export function findEntities(text: string): Entity[] {
  const sorted = [...links(text), ...mentions(text)].toSorted((one, other) => one.start - other.start)
  const kept: Entity[] = []
  for (const entity of sorted) if (entity.start >= (kept.at(-1)?.end ?? 0)) kept.push(entity)
  return kept
}

function links(text: string): Entity[] {
  if (!text.includes(':')) return []
  return [...text.matchAll(LINK)].flatMap((match) => {
    const [, before = '', whole = '', protocol, host = ''] = match
    if (protocol === undefined) return []
    const [url = whole, slug = ''] = SHORTENED.exec(whole) ?? []
    if (slug.length > LONGEST.shortened || !isHost(host, url.length)) return []
    const start = match.index + before.length
    return [{ kind: 'link' as const, start, end: start + url.length, value: url }]
  })
}

/** The server converts hosts to ASCII by IDNA 2003, which knows no emoji. A backslash ends a host in every URL parser. */
function isHost(host: string, urlLength: number): boolean {
  const ascii = domainToASCII(host)
  const grown = Math.max(0, ascii.length - host.length)
  const areParts = ascii.split('.').every((part) => part.length <= LONGEST.hostPart)
  return ascii !== '' && areParts && urlLength + grown <= LONGEST.url && !/[\\\u{1f000}-\u{1ffff}]/u.test(host)
}

function mentions(text: string): Entity[] {
  return [...text.matchAll(MENTION)].flatMap((match) => {
    const [found, value = ''] = match
    const end = match.index + found.length
    const server = value.split('@')[1] ?? ''
    if (AFTER_NO_MENTION.test(text.slice(end)) || server.length > LONGEST.mentionedHost) return []
    return [{ kind: 'mention' as const, start: match.index, end, value }]
  })
}
