const NAMED: Record<string, string> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'", nbsp: ' ' }

/** Converts Mastodon's HTML to text. The hidden parts of a link count as text: together they are its URL. */
export function toPlainText(html: string): string {
  return html
    .replace(/<br\s*\/?>/gi, '\n')
    .replace(/<\/p>\s*<p[^<>]*>/gi, '\n\n')
    .replace(/<[^<>]*>/g, '')
    .replace(/&(#x?[\da-f]+|[a-z]+);/gi, (entity, name: string) => decodeEntity(name) ?? entity)
    .trim()
}

function decodeEntity(name: string): string | undefined {
  if (!name.startsWith('#')) return NAMED[name.toLowerCase()]
  const code = /^#x/i.test(name) ? parseInt(name.slice(2), 16) : Number(name.slice(1))
  return code > 0 && code <= 0x10ffff ? String.fromCodePoint(code) : undefined
}
