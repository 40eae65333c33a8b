import { escapeHtml } from '../shared/html.ts'
import { findEntities } from './entities.ts'

const HASHTAG =
  /(?<=^|[^\p{L}\p{M}\p{N}_/&])#([·\p{L}\p{M}\p{N}_\u{200c}\u{200d}]*\p{L}[·\p{L}\p{M}\p{N}_\u{200c}\u{200d}]*)/gu
const SHOWN_OF_LINK = 30

const segmenter = new Intl.Segmenter('en', { granularity: 'grapheme' })

/**
 * Counts grapheme clusters, with every link as 23 and mentions without their server; the content warning counts in full
 * (`app/validators/status_length_validator.rb`, read in November 2026).
 */
export function statusLength(text: string, warning: string, charactersPerUrl: number): number {
  let [countable, at] = [warning, 0]
  for (const { kind, start, end, value } of findEntities(text)) {
    countable += text.slice(at, start) + (kind === 'link' ? 'x'.repeat(charactersPerUrl) : `@${value.split('@')[0]}`)
    at = end
  }
  return [...segmenter.segment(countable + text.slice(at))].length
}

/** Counts like compatible servers: every code point, full links and full mentions. */
export function codePointLength(text: string, warning: string): number {
  return [...warning, ...text].length
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
    for (const { kind, start, end, value } of findEntities(line)) {
      parts.push(withTags(line.slice(at, start)), kind === 'link' ? toLink(value) : toMention(value))
      at = end
    }
    return [...parts, withTags(line.slice(at))].join('')
  }

  function toMention(value: string): string {
    const [username = '', host] = value.split('@')
    const isKnown = isAccount(username) && (host === undefined || host === new URL(base).host)
    if (!isKnown) return escapeHtml(`@${value}`)
    return `<span class="h-card" translate="no"><a href="${base}/@${username}" class="u-url mention">@<span>${username}</span></a></span>`
  }

  function withTags(words: string): string {
    return escapeHtml(words).replace(
      HASHTAG,
      (_, tag: string) =>
        `<a href="${base}/tags/${encodeURIComponent(tag)}" class="mention hashtag" rel="tag">#<span>${tag}</span></a>`,
    )
  }
}

function toLink(url: string): string {
  const [, prefix = '', rest = ''] = /^([a-z]+:\/\/(?:www\.)?)(.*)$/iu.exec(url) ?? []
  const shown = rest.slice(0, SHOWN_OF_LINK)
  const hidden = rest.slice(SHOWN_OF_LINK)
  const invisible = (part: string) => `<span class="invisible">${escapeHtml(part)}</span>`
  return `<a href="${escapeHtml(url)}" rel="nofollow noopener" translate="no" target="_blank">${invisible(prefix)}<span class="${hidden ? 'ellipsis' : ''}">${escapeHtml(shown)}</span>${invisible(hidden)}</a>`
}
