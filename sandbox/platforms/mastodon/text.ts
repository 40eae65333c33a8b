import { escapeHtml } from '../shared/html.ts'

/** Finds links as Mastodon does: a scheme, a host with a dot or a port, and no punctuation at the end. */
const URL_PATTERN = /https?:\/\/[^\s/?#<>"']+(?:\.|:\d)[^\s<>"]*[^\s<>"'.,;:!?)\]}]/giu
const MENTION = /(?<=^|[^\p{L}\p{N}_/])@(\w+(?:[\w.-]+\w)?)(?:@([\w.-]+\w(?::\d+)?))?/giu
const HASHTAG = /(?<=^|[^\p{L}\p{N}_/&])#([\p{L}\p{N}_]*\p{L}[\p{L}\p{N}_]*)/gu
const LINK_LENGTH = 23
const SHOWN_OF_LINK = 30

const segmenter = new Intl.Segmenter('en', { granularity: 'grapheme' })

/** Counts grapheme clusters, every link as 23 and mentions without their server (StatusLengthValidator). */
export function statusLength(text: string): number {
  const countable = text.replace(URL_PATTERN, 'x'.repeat(LINK_LENGTH)).replace(MENTION, '@$1')
  return [...segmenter.segment(countable)].length
}

/** Counts like compatible servers: every code point, full links and full mentions. */
export function codePointLength(text: string): number {
  return [...text].length
}

/**
 * Converts the text to the HTML that the public sees: paragraphs, shortened links, mentions of existing accounts,
 * hashtags.
 */
export function toHtml(text: string, base: string, isAccount: (username: string) => boolean): string {
  return text
    .split(/\n{2,}/)
    .map((paragraph) => `<p>${paragraph.split('\n').map(toInline).join('<br />')}</p>`)
    .join('')

  function toInline(line: string): string {
    const parts: string[] = []
    let at = 0
    for (const match of line.matchAll(URL_PATTERN)) {
      parts.push(withTags(line.slice(at, match.index)), toLink(match[0]))
      at = match.index + match[0].length
    }
    return [...parts, withTags(line.slice(at))].join('')
  }

  function withTags(words: string): string {
    return escapeHtml(words)
      .replace(MENTION, (whole, username: string, host?: string) =>
        isAccount(username) && (host === undefined || host === new URL(base).host)
          ? `<span class="h-card" translate="no"><a href="${base}/@${username}" class="u-url mention">@<span>${username}</span></a></span>`
          : whole,
      )
      .replace(
        HASHTAG,
        (_, tag: string) =>
          `<a href="${base}/tags/${encodeURIComponent(tag)}" class="mention hashtag" rel="tag">#<span>${tag}</span></a>`,
      )
  }
}

function toLink(url: string): string {
  const [, prefix = '', rest = ''] = /^(https?:\/\/(?:www\.)?)(.*)$/iu.exec(url) ?? []
  const shown = rest.slice(0, SHOWN_OF_LINK)
  const hidden = rest.slice(SHOWN_OF_LINK)
  const invisible = (part: string) => `<span class="invisible">${escapeHtml(part)}</span>`
  return `<a href="${escapeHtml(url)}" rel="nofollow noopener" translate="no" target="_blank">${invisible(prefix)}<span class="${hidden ? 'ellipsis' : ''}">${escapeHtml(shown)}</span>${invisible(hidden)}</a>`
}
