import { Refusal } from './refusal.ts'
import type { Block } from './state.ts'

const MOST = { blocks: 1_000, image: 30, video: 10, links: 100 }
const LONGEST_TEXT = 4_096
const MAX_BYTES = 1_000_000

/** Validates the content of a post in the Neue Post Format. @throws Refusal 8001 */
export function readBlocks(content: unknown): Block[] {
  if (!Array.isArray(content) || content.length === 0) bad('content is empty')
  if (JSON.stringify(content).length > MAX_BYTES) bad('the post is too large')
  const blocks = content as Block[]
  const blocksOf = (type: string) => blocks.filter((block) => block?.type === type)
  if (blocks.length > MOST.blocks) bad('too many blocks')
  if (blocksOf('image').length > MOST.image) bad('too many images')
  if (blocksOf('video').length > MOST.video) bad('too many videos')
  if (blocksOf('text').reduce((sum, block) => sum + readFormatting(block).length, 0) > MOST.links) bad('too many links')
  for (const block of blocks) {
    if (block.type === 'text') checkText(block)
    else if (block.type === 'image') {
      if (block.alt_text !== undefined && !isText(block.alt_text)) bad('alt_text is too long')
    } else if (block.type === 'video') {
      if (block.alt_text !== undefined) bad('a video has no alt_text')
    } else bad('a block is of no known type')
  }
  return blocks
}

function checkText(block: Block): void {
  if (!isText(block['text']) || block['text'] === '') bad('a text block needs a text of at most 4096 characters')
  const length = [...(block['text'] as string)].length
  for (const { start, end, type, url } of readFormatting(block)) {
    const isRange = Number.isInteger(start) && Number.isInteger(end) && start >= 0 && start < end && end <= length
    if (!isRange || type !== 'link' || !URL.canParse(url)) bad('formatting is not as it should be')
  }
}

interface Range {
  start: number
  end: number
  type: string
  url: string
}

function readFormatting({ formatting = [] }: Block): Range[] {
  return Array.isArray(formatting) ? (formatting as Range[]) : bad('formatting is not a list')
}

function isText(value: unknown): boolean {
  return typeof value === 'string' && [...value].length <= LONGEST_TEXT
}

function bad(why: string): never {
  throw new Refusal(400, `Bad request: ${why}`, 8001)
}
