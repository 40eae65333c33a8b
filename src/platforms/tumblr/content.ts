import { findLinks } from '../../domain/links.ts'
import type { Content } from '../../domain/post.ts'
import type { MediaKind } from '../../domain/posting-rules.ts'
import type { Post } from './answers.ts'

/** Posts in the Neue Post Format (https://www.tumblr.com/docs/npf); what is not sent is not described here. */
export interface TextBlock {
  type: 'text'
  text: string
  formatting?: LinkRange[]
}

interface LinkRange {
  type: 'link'
  /** In code points, the end excluded. */
  start: number
  end: number
  url: string
}

/** https://www.tumblr.com/docs/npf#media-objects; uploaded ones are named by `identifier`, known ones by what Tumblr told of them. */
export type MediaObject = Record<string, unknown>

export type MediaBlock =
  { type: 'image'; media: MediaObject[]; alt_text?: string } | { type: 'video'; provider: 'tumblr'; media: MediaObject }

export type Block = TextBlock | MediaBlock

const LONGEST_BLOCK = 4_096
/** Of a thousand that a post may have, most; the others are for images and videos. */
const MOST_TEXT_BLOCKS = 900
const MOST_LINKS = 100
const MOST_TAGS = 30
const LONGEST_TAG = 139

/** A block for each paragraph, with its links marked. */
export function textBlocks(text: string): TextBlock[] {
  const paragraphs = text
    .replace(/\r\n?/g, '\n')
    .split(/\n\s*\n/)
    .map((paragraph) => paragraph.trim())
    .filter((paragraph) => paragraph !== '')
  const fitting = paragraphs.length > MOST_TEXT_BLOCKS ? gather(paragraphs) : paragraphs
  let links = 0
  return fitting.flatMap(cut).map((block) => {
    const formatting = linkRanges(block).slice(0, MOST_LINKS - links)
    links += formatting.length
    return { type: 'text', text: block, ...(formatting.length > 0 && { formatting }) }
  })
}

/** The hashtags of a text, which Tumblr keeps apart from it. */
export function tagsOf(text: string): string[] {
  const words = findLinks(text).reduce((rest, { url }) => rest.replace(url, ' '), text)
  const tags = new Map<string, string>()
  for (const [, tag = ''] of words.matchAll(HASHTAG)) {
    if ([...tag].length <= LONGEST_TAG && !tags.has(tag.toLowerCase())) tags.set(tag.toLowerCase(), tag)
  }
  return [...tags.values()].slice(0, MOST_TAGS)
}

const HASHTAG = /(?<=^|[^\p{L}\p{N}_/&#])#([\p{L}\p{N}_]*\p{L}[\p{L}\p{N}_]*)/gu

/** As few blocks as the paragraphs fit in. */
function gather(paragraphs: string[]): string[] {
  const blocks: string[] = []
  for (const paragraph of paragraphs) {
    const joined = blocks.length === 0 ? paragraph : `${blocks.at(-1)}\n\n${paragraph}`
    if (blocks.length > 0 && lengthOf(joined) <= LONGEST_BLOCK) blocks[blocks.length - 1] = joined
    else blocks.push(paragraph)
  }
  return blocks
}

/** Cuts what is too long for one block, between words where there are any. */
function cut(paragraph: string): string[] {
  const pieces: string[] = []
  let rest = [...paragraph]
  while (rest.length > LONGEST_BLOCK) {
    const space = rest.slice(0, LONGEST_BLOCK + 1).findLastIndex((character) => /\s/.test(character))
    const end = space > LONGEST_BLOCK / 2 ? space : LONGEST_BLOCK
    pieces.push(rest.slice(0, end).join('').trim())
    rest = rest.slice(end)
  }
  return [...pieces, rest.join('').trim()].filter((piece) => piece !== '')
}

function linkRanges(block: string): LinkRange[] {
  return findLinks(block).map(({ url, index }) => {
    const start = lengthOf(block.slice(0, index))
    return { type: 'link', start, end: start + lengthOf(url), url }
  })
}

/** In code points. */
function lengthOf(text: string): number {
  return [...text].length
}

export function mediaBlock(kind: MediaKind, media: MediaObject, altText: string): MediaBlock {
  if (kind === 'video') return { type: 'video', provider: 'tumblr', media }
  return { type: 'image', media: [media], ...(altText !== '' && { alt_text: altText }) }
}

/** What a post is made of, for creating and for editing it: images and videos first, as in posts made on Tumblr itself. */
export function postBody({ text }: Content, media: MediaBlock[], state: 'draft' | 'published') {
  const content: Block[] = [...media, ...textBlocks(text)]
  return { content, state, tags: tagsOf(text).join(',') }
}

/** What Tumblr made of the files of a post, each as it may be named again; null while it works on one. */
export function uploadedMedia({ state, content = [] }: Post, count: number): MediaObject[] | null {
  const media = content
    .filter(({ type }) => type === 'image' || type === 'video')
    // Of an image there are several sizes, the widest first.
    .map((block) => [block.media].flat()[0] as MediaObject | undefined)
    .filter((object) => typeof object?.['url'] === 'string')
  return state !== 'transcoding' && media.length === count ? (media as MediaObject[]) : null
}
