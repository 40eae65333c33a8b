import { mkdirSync } from 'node:fs'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileTypeFromBuffer } from 'file-type'
import sharp from 'sharp'
import { readFilm } from '../shared/film.ts'
import type { SimulatorResponse } from '../shared/server.ts'
import type { AccountLimits } from './limits.ts'
import { Refusal } from './refusal.ts'
import type { Account, Block, Media, State } from './state.ts'

const TYPES = {
  image: ['image/jpeg', 'image/png', 'image/gif'],
  video: ['video/mp4', 'video/quicktime'],
}
const MAX_BYTES = { image: 20_000_000, video: 500_000_000 }
const BAD_FORMAT = 8005

export interface MediaOptions {
  state: State
  limits: AccountLimits
  /** The folder for the bytes. */
  dir: string
  base(): string
  /** How long the processing of a video takes, milliseconds. */
  processingMs: number
}

interface Upload {
  kind: 'image' | 'video'
  mimeType: string
  bytes: Buffer
  width: number
  height: number
}

/** Stores files that are uploaded with a post, by their identifiers, and finds files that a post names again. */
export function createMediaStore({ state, limits, dir, base, processingMs }: MediaOptions) {
  mkdirSync(dir, { recursive: true })

  /** Returns the blocks with their stored files. Nothing is stored unless everything is valid. @throws Refusal */
  async function take(account: Account, blocks: Block[], files: [name: string, file: File][]): Promise<Block[]> {
    const named = blocks.map((block) => mediaOf(block)?.['identifier']).filter((name) => name !== undefined)
    const sent = new Set<unknown>(files.map(([name]) => name))
    if (named.length !== files.length || new Set(named).size !== sent.size || !named.every((name) => sent.has(name))) {
      throw new Refusal(400, 'The media identifiers do not match the parts that were sent', 8001)
    }
    const uploads = new Map<string, Upload>()
    for (const [name, file] of files) {
      const block = blocks.find((one) => mediaOf(one)?.['identifier'] === name)!
      uploads.set(name, await check(file, block))
    }
    const count = (kind: Upload['kind']) => [...uploads.values()].filter((upload) => upload.kind === kind).length
    const wanted = { photos: count('image'), videos: count('video') }
    if (wanted.videos > 1) throw new Refusal(400, 'Only one video can be uploaded in a post', 8001)
    if (wanted.videos > 0 && isTranscoding(account)) {
      throw new Refusal(403, 'Your previous video is still being processed', 8010)
    }
    limits.assertRoom(account, wanted)
    limits.count(account, wanted)
    const stored: Block[] = []
    for (const block of blocks) {
      const object = mediaOf(block)
      if (!object) stored.push(block)
      else {
        const upload = uploads.get(String(object['identifier']))
        const { id } = upload ? await keep(account, upload) : ownMedia(account, object)
        stored.push({ ...block, mediaId: id, media: undefined })
      }
    }
    return stored
  }

  async function check(file: File, block: Block): Promise<Upload> {
    const bytes = Buffer.from(await file.arrayBuffer())
    const mimeType = (await fileTypeFromBuffer(bytes))?.mime ?? ''
    const kind = block.type as Upload['kind']
    const declaredType = mediaOf(block)!['type']
    if (!TYPES[kind].includes(mimeType) || mimeType !== file.type || declaredType !== mimeType) {
      throw new Refusal(400, 'This file format is not supported', BAD_FORMAT)
    }
    if (bytes.length > MAX_BYTES[kind]) throw new Refusal(413, 'The file is too large', BAD_FORMAT)
    if (kind === 'video') {
      if (!readFilm(bytes, bytes.length)?.pictureCodecs.length) {
        throw new Refusal(400, 'This file cannot be read', BAD_FORMAT)
      }
      return { kind, mimeType, bytes, width: 1_280, height: 720 }
    }
    const { width, height } = await sharp(bytes, { limitInputPixels: false })
      .metadata()
      .catch(() => {
        throw new Refusal(400, 'This file cannot be read', BAD_FORMAT)
      })
    return { kind, mimeType, bytes, width, height }
  }

  async function keep(account: Account, { kind, mimeType, bytes, width, height }: Upload): Promise<Media> {
    const id = state.newId()
    await writeFile(join(dir, id), bytes)
    const readyAt = kind === 'video' ? Date.now() + processingMs : 0
    return state.media.set(id, { id, accountId: account.id, mimeType, width, height, readyAt })
  }

  /** Finds a file by the URL of an earlier response. */
  function ownMedia(account: Account, { url }: Record<string, unknown>): Media {
    const media = state.media.get(String(url).replace(`${base()}/media/`, ''))
    if (media?.accountId === account.id) return media
    throw new Refusal(400, 'The media does not exist', 8001)
  }

  function isTranscoding(account: Account): boolean {
    return state.media.values().some((media) => media.accountId === account.id && !isReady(media))
  }

  return {
    take,
    isReady: (block: Block): boolean => !block['mediaId'] || isReady(state.media.get(block['mediaId'] as string)!),

    present({ mediaId, ...block }: Block): Block {
      if (typeof mediaId !== 'string') return block
      const media = state.media.get(mediaId)!
      const { mimeType: type, width, height } = media
      const object = { type, width, height, ...(isReady(media) && { url: `${base()}/media/${mediaId}` }) }
      return { ...block, media: block.type === 'image' ? [object, { ...object, width: 100 }] : object }
    },

    async file(id: string): Promise<SimulatorResponse> {
      const media = state.media.get(id)
      if (!media) throw new Refusal(404, 'Not Found')
      return { status: 200, headers: { 'content-type': media.mimeType }, bytes: await readFile(join(dir, id)) }
    },
  }
}

export type MediaStore = ReturnType<typeof createMediaStore>

/** Returns the media object of an image or video: an image has a list of them, a video one. */
function mediaOf({ type, media }: Block): Record<string, unknown> | null {
  if (type !== 'image' && type !== 'video') return null
  const object: unknown = type === 'image' && Array.isArray(media) ? media[0] : type === 'video' ? media : undefined
  if (typeof object === 'object' && object !== null && !Array.isArray(object)) return object as Record<string, unknown>
  throw new Refusal(400, 'The media of a block has the wrong shape', 8001)
}

function isReady({ readyAt }: Media): boolean {
  return Date.now() >= readyAt
}
