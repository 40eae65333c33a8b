import type { TumblrOptions } from '../../domain/posts/options.ts'
import { findLinks } from '../../domain/shared/links.ts'
import type { MediaKind } from '../../domain/posts/posting-rules.ts'
import { countCodePoints } from '../../domain/shared/text.ts'
import type { Post } from './responses.ts'

/** The parts of the Neue Post Format (https://www.tumblr.com/docs/npf) that we send. */
export interface TextBlock {
  type: 'text'
  text: string
  formatting?: LinkRange[]
}

interface LinkRange {
  type: 'link'
  /** In code points; `end` is exclusive. */
  start: number
  end: number
  url: string
}

/**
 * https://www.tumblr.com/docs/npf#media-objects. New files are named by `identifier`, uploaded ones by the object that
 * Tumblr returned.
 */
export type MediaObject = Record<string, unknown>

export type MediaBlock =
  { type: 'image'; media: MediaObject[]; alt_text?: string } | { type: 'video'; provider: 'tumblr'; media: MediaObject }

export type Block = TextBlock | MediaBlock

const LONGEST_BLOCK = 4_096
/** A post has at most 1,000 blocks; the rest is for images and videos. */
const MAX_TEXT_BLOCKS = 900
const MAX_LINKS = 100
const MAX_TAGS = 30
const LONGEST_TAG = 139

/** Creates one block per paragraph and marks its links. */
export function toTextBlocks(text: string): TextBlock[] {
  const paragraphs = text
    .replace(/\r\n?/g, '\n')
    .split(/\n\s*\n/)
    .map((paragraph) => paragraph.trim())
    .filter((paragraph) => paragraph !== '')
  const fitting = paragraphs.length > MAX_TEXT_BLOCKS ? joinParagraphs(paragraphs) : paragraphs
  let links = 0
  return fitting.flatMap(splitParagraph).map((block) => {
    const formatting = toLinkRanges(block, MAX_LINKS - links)
    links += formatting.length
    return { type: 'text', text: block, ...(formatting.length > 0 && { formatting }) }
  })
}

/** Returns the hashtags of a text, which Tumblr stores separately. */
export function parseTags(text: string): string[] {
  const tags = new Map<string, string>()
  for (const [, tag = ''] of removeLinks(text).matchAll(HASHTAG)) {
    if (tags.size === MAX_TAGS) break
    if (countCodePoints(tag) <= LONGEST_TAG && !tags.has(tag.toLowerCase())) tags.set(tag.toLowerCase(), tag)
  }
  return [...tags.values()]
}

function removeLinks(text: string): string {
  let from = 0
  const between = findLinks(text).map(({ url, index }) => {
    const words = text.slice(from, index)
    from = index + url.length
    return words
  })
  return [...between, text.slice(from)].join(' ')
}

/** Marks and joiners are part of words in many scripts. */
const HASHTAG = /(?<![\p{L}\p{M}\p{N}_/&#＃])[#＃]([\p{N}_]*\p{L}[\p{L}\p{M}\p{N}_\u{200c}\u{200d}]*)/gu

const GAP = '\n\n'

/** Joins paragraphs into as few blocks as possible. */
function joinParagraphs(paragraphs: string[]): string[] {
  const blocks: string[][] = []
  let length = Infinity
  for (const paragraph of paragraphs) {
    const added = countCodePoints(paragraph)
    const joined = length + GAP.length + added
    if (joined <= LONGEST_BLOCK) blocks.at(-1)!.push(paragraph)
    else blocks.push([paragraph])
    length = joined <= LONGEST_BLOCK ? joined : added
  }
  return blocks.map((block) => block.join(GAP))
}

/** Splits a paragraph that is too long for one block, between words where possible. */
function splitParagraph(paragraph: string): string[] {
  const characters = [...paragraph]
  const pieces: string[] = []
  let from = 0
  while (characters.length - from > LONGEST_BLOCK) {
    const window = characters.slice(from, from + LONGEST_BLOCK + 1)
    const space = window.findLastIndex((character) => /\s/.test(character))
    const end = from + (space > LONGEST_BLOCK / 2 ? space : LONGEST_BLOCK)
    pieces.push(characters.slice(from, end).join('').trim())
    from = end
  }
  return [...pieces, characters.slice(from).join('').trim()].filter((piece) => piece !== '')
}

/** Marks the first links of a block. Links beyond `most` stay plain text. */
function toLinkRanges(block: string, most: number): LinkRange[] {
  let [index, counted] = [0, 0]
  return findLinks(block)
    .slice(0, most)
    .map((link) => {
      const start = counted + countCodePoints(block.slice(index, link.index))
      const end = start + countCodePoints(link.url)
      index = link.index + link.url.length
      counted = end
      return { type: 'link', start, end, url: link.url }
    })
}

export function toMediaBlock(kind: MediaKind, media: MediaObject, altText: string): MediaBlock {
  if (kind === 'video') return { type: 'video', provider: 'tumblr', media }
  return { type: 'image', media: [media], ...(altText !== '' && { alt_text: altText }) }
}

/** A text in Tumblr's format. */
export interface FormattedText {
  blocks: TextBlock[]
  tags: string
}

export function formatText(text: string): FormattedText {
  return { blocks: toTextBlocks(text), tags: parseTags(text).join(',') }
}

/**
 * The body of a call that creates or edits a post. Images and videos come first, as in posts created on Tumblr itself.
 */
export function toPostBody(
  { blocks, tags }: FormattedText,
  media: MediaBlock[],
  {
    state,
    options: { tags: further = [], sourceUrl } = {},
  }: { state: 'draft' | NonNullable<TumblrOptions['state']>; options?: TumblrOptions | undefined },
) {
  const content: Block[] = [...media, ...blocks]
  const all = [...(tags === '' ? [] : [tags]), ...further].join(',')
  return { content, state, tags: all, ...(sourceUrl !== undefined && { source_url: sourceUrl }) }
}

/** Returns Tumblr's media objects for a post's files, for use in later calls; `null` while one is being processed. */
export function findUploadedMedia({ state, content = [] }: Post, count: number): MediaObject[] | null {
  const media = content
    .filter(({ type }) => type === 'image' || type === 'video')
    // An image has several sizes, the widest first.
    .map((block) => [block.media].flat()[0] as MediaObject | undefined)
    .filter((object) => typeof object?.['url'] === 'string')
  return state !== 'transcoding' && media.length === count ? (media as MediaObject[]) : null
}
