import { Parser } from 'htmlparser2'
import { isCardUrl, toCardText } from '../../domain/posts/link.ts'
import { createPageDecoder, DECLARATION_BYTES, type Decoder } from './encodings.ts'

/** The statements in the head of a page about the page. */
export interface PageHead {
  title: string
  description: string
  /** The address of the preview image as the page writes it; empty without one. */
  image: string
}

/** Names of `meta` elements, the preferred ones first (https://ogp.me, https://developer.x.com/en/docs/x-for-websites/cards). */
const SOURCES = {
  title: ['og:title', 'twitter:title'],
  description: ['og:description', 'twitter:description', 'description'],
  image: ['og:image', 'og:image:secure_url', 'og:image:url', 'twitter:image', 'twitter:image:src'],
} as const
const NAMES = new Set<string>(Object.values(SOURCES).flat())

/** A page is read up to its head's end, or this many bytes. */
const MAX_PAGE_BYTES = 1_048_576
/** A head has few levels. The parser takes quadratic time on many. */
const MAX_DEPTH = 50
const MAX_TITLE_LENGTH = 5_000

/** Reads the head of a page as it arrives. Nothing of the page is run, and memory is bounded by the bytes that are read. */
export async function readPageHead(pieces: AsyncIterable<Uint8Array>, contentType: string): Promise<PageHead> {
  const head = createHeadParser()
  let decoder: Decoder | undefined
  let start: Uint8Array = new Uint8Array()
  let bytes = 0
  for await (const piece of pieces) {
    bytes += piece.length
    if (decoder) head.write(decoder.decode(piece, { stream: true }))
    else {
      start = Buffer.concat([start, piece])
      if (start.length < DECLARATION_BYTES) continue
      decoder = createPageDecoder(start, contentType)
      head.write(decoder.decode(start, { stream: true }))
    }
    if (head.isComplete() || bytes >= MAX_PAGE_BYTES) break
  }
  if (!decoder) head.write(createPageDecoder(start, contentType).decode(start))
  return head.end()
}

function createHeadParser() {
  const metas = new Map<string, string>()
  let title = ''
  let depth = 0
  let isInTitle = false
  let isOver = false

  function finish(): void {
    isOver = true
    parser.pause()
  }

  function readMeta({ property, name = '', content }: Record<string, string>): void {
    const key = (property ?? name).trim().toLowerCase()
    if (content?.trim() && NAMES.has(key) && !metas.has(key)) metas.set(key, content)
  }

  const parser = new Parser({
    onopentag(name, attributes) {
      depth += 1
      if (name === 'body' || depth > MAX_DEPTH) finish()
      else if (name === 'meta') readMeta(attributes)
      else if (name === 'title') isInTitle = title === ''
    },
    ontext(text) {
      if (isInTitle && title.length < MAX_TITLE_LENGTH) title += text
    },
    onclosetag(name) {
      depth -= 1
      if (name === 'title') isInTitle = false
      if (name === 'head') finish()
    },
  })

  const find = (part: keyof typeof SOURCES) => SOURCES[part].map((name) => metas.get(name)).find(Boolean)

  return {
    write: (text: string): void => parser.write(text),
    isComplete: () => isOver,
    end(): PageHead {
      if (!isOver) parser.end()
      return {
        title: toCardText(find('title') ?? title, 'title'),
        description: toCardText(find('description') ?? '', 'description'),
        image: find('image')?.trim() ?? '',
      }
    },
  }
}

/** Returns the address of a page's preview image; null when it is none that can be read. */
export function toImageUrl(image: string, page: URL): string | null {
  if (image === '' || !URL.canParse(image, page.href)) return null
  const { href } = new URL(image, page)
  return isCardUrl(href) ? href : null
}
