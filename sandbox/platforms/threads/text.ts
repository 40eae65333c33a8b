import { DOMAIN_ENDINGS } from '../../../src/domain/shared/domain-endings.ts'

/**
 * An emoji with everything attached to it. Unicode's list of emoji also has digits, `#` and `*`, which are emoji only as
 * keycaps.
 */
const EMOJI = /(?:[0-9#*]\u{fe0f}?\u{20e3}|(?![0-9#*])\p{Emoji})[\p{M}\p{Grapheme_Extend}\p{Emoji_Modifier}\u{200d}]*/gu

/**
 * Counts code points, and emoji by their bytes: "Text posts are limited to 500 characters. Emojis are counted as the
 * number of UTF-8 bytes" (https://developers.facebook.com/documentation/threads/posts, 14 April 2026).
 */
export function textLength(text: string): number {
  let length = [...text].length
  for (const [emoji] of text.matchAll(EMOJI)) length += Buffer.byteLength(emoji) - [...emoji].length
  return length
}

const OPENED: Record<string, string> = { ')': '(', ']': '[', '}': '{' }
const ENDS_LINK = String.raw`\s\p{Cc}\p{Pi}\p{Ps}\p{Pe}<>"„‚”»›、。，．！？；：､｡…—\p{Cf}`
/** Brackets of ASCII and the apostrophe may be part of a link. */
const IN_LINK = String.raw`(?:[^${ENDS_LINK}]|[()\[\]{}])`
const ending = [...DOMAIN_ENDINGS].join('|')
const name = String.raw`[\p{L}\p{M}\p{N}\-]`
const LINK = new RegExp(
  [
    String.raw`(?<![a-z0-9])https?:\/\/[^\/?#.${ENDS_LINK}]+\.${IN_LINK}*`,
    String.raw`(?<![_@\/.:]|${name})(?:www(?:\.${name}+)+|(?:${name}+\.)+(?:${ending}))(?![_@]|\.?${name})(?::\d+)?(?:[\/?#]${IN_LINK}*)?`,
  ].join('|'),
  'giu',
)

/**
 * Counts "all unique URLs found in the text"; `www.facebook.com` is one
 * (https://developers.facebook.com/documentation/threads/create-posts/text-attachments, 2 July 2026). The documentation
 * has no grammar of URLs: this one takes every host with a known ending for one.
 */
export function countLinks(text: string): number {
  return new Set([...text.matchAll(LINK)].map(([found]) => withoutSentence(found))).size
}

function withoutSentence(link: string): string {
  const host = /^(?:https?:\/\/)?[^/?#:]*?\.(?=[a-z]+[^\0-\x7f])([a-z]+)/i.exec(link)
  let rest = host && DOMAIN_ENDINGS.has(host[1]!.toLowerCase()) ? host[0] : link
  for (;;) {
    const opened = OPENED[rest.at(-1)!]
    const isLoose = opened !== undefined && rest.split(rest.at(-1)!).length > rest.split(opened).length
    const shorter = isLoose ? rest.slice(0, -1) : rest.replace(/(?:['’]s|[.,;:!?'’*`–])$/i, '')
    if (shorter === rest) return rest
    rest = shorter
  }
}
