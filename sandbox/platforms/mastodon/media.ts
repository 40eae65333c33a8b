import { mkdirSync } from 'node:fs'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileTypeFromBuffer } from 'file-type'
import sharp from 'sharp'
import type { SandboxResponse } from '../proxied-platform.ts'
import type { Params } from '../shared/params.ts'
import { readFilm, type Film } from '../shared/film.ts'
import { Refusal } from './refusal.ts'
import type { Account, Media, State } from './state.ts'

/** The defaults of Mastodon (`app/models/media_attachment.rb` and `concerns/attachmentable.rb`, read in November 2026). */
export const MEDIA_LIMITS = {
  types: [
    'image/jpeg',
    'image/png',
    'image/gif',
    'image/heic',
    'image/heif',
    'image/webp',
    'image/avif',
    'video/webm',
    'video/mp4',
    'video/quicktime',
  ],
  imageBytes: 16_777_216,
  imagePixels: 33_177_600,
  videoBytes: 103_809_024,
  videoPixels: 8_294_400,
  videoFrameRate: 120,
  description: 1_500,
}

/** The limits on files that instances change. */
export type MediaLimits = Omit<typeof MEDIA_LIMITS, 'types'>

const ISO_FILMS = ['video/mp4', 'video/quicktime']
const BROKEN = 'Error processing thumbnail for uploaded media'
const BAD_TYPE = 'Validation failed: File content type is invalid, File is invalid'

export interface MediaStoreOptions {
  state: State
  /** The folder for the bytes. */
  dir: string
  base(): string
  /** How long the processing of a video takes, milliseconds. */
  processingMs: number
  /** Fewer than the real server accepts, for restricted instances. */
  types: string[]
  limits: MediaLimits
  /** True for servers that publish a status without the files that they do not have ready. */
  dropsMedia: boolean
  /** True for servers that show a file in a status under another id than that of its upload. */
  renamesMedia: boolean
}

/** Stores and processes uploads (docs/reference/platforms.md). */
export function createMediaStore(options: MediaStoreOptions) {
  const { state, dir, base, processingMs, types, limits, dropsMedia, renamesMedia } = options
  mkdirSync(dir, { recursive: true })

  async function upload(account: Account, params: Params): Promise<SandboxResponse> {
    const file = params.file('file')
    if (!file) throw new Refusal(422, "Validation failed: File can't be blank")
    const description = descriptionOf(params, limits)
    const bytes = Buffer.from(await file.arrayBuffer())
    const mimeType = (await fileTypeFromBuffer(bytes))?.mime ?? ''
    if (!types.includes(mimeType) || mimeType !== file.type) throw new Refusal(422, BAD_TYPE)
    const kind = mimeType.startsWith('video/') ? 'video' : 'image'
    // The server reads the shape of a file before it checks the number of its bytes.
    const film = ISO_FILMS.includes(mimeType) ? readFilm(bytes, bytes.length) : null
    if (film) assertShape(film)
    if (kind === 'image') await assertPicture(bytes)
    const max = kind === 'video' ? limits.videoBytes : limits.imageBytes
    if (bytes.length > max) {
      throw new Refusal(422, `Validation failed: File file size must be less than ${max / 1_048_576} MB`)
    }
    const id = state.newId()
    await writeFile(join(dir, id), bytes)
    const media = state.media.set(id, {
      id,
      accountId: account.id,
      kind,
      mimeType,
      sizeBytes: bytes.length,
      description,
      readyAt: kind === 'video' ? Date.now() + processingMs : 0,
      isBroken: ISO_FILMS.includes(mimeType) && film === null,
      statusId: null,
    })
    return { status: isReady(media) ? 200 : 202, body: present(media) }
  }

  async function assertPicture(bytes: Buffer): Promise<void> {
    const { width, height } = await sharp(bytes, { limitInputPixels: false })
      .metadata()
      .catch(() => {
        throw new Refusal(500, BROKEN)
      })
    if (width * height > limits.imagePixels) throw new Refusal(422, `${width}x${height} images are not supported`)
  }

  /** `check_video_dimensions`: the frame rate counts without its fraction. */
  function assertShape({ pictureCodecs, width, height, frameRate }: Film): void {
    if (pictureCodecs.length === 0) throw new Refusal(422, 'Video has no video stream')
    if (width * height > limits.videoPixels) throw new Refusal(422, `${width}x${height} videos are not supported`)
    const rate = Math.floor(frameRate)
    if (rate > limits.videoFrameRate) throw new Refusal(422, `${rate}fps videos are not supported`)
  }

  function own(account: Account, id: string): Media {
    const media = state.media.get(id)
    if (!media || media.accountId !== account.id || media.statusId !== null) throw new Refusal(404, 'Record not found')
    return media
  }

  function present(media: Media) {
    const url = `${base()}/media/${media.id}`
    return {
      id: media.id,
      type: media.kind,
      url: isReady(media) ? url : null,
      preview_url: isReady(media) ? url : null,
      remote_url: null,
      meta: {},
      description: media.description,
      blurhash: null,
    }
  }

  return {
    upload,

    /** A file as a status shows it. */
    presentAttached(id: string) {
      const media = present(state.media.get(id)!)
      return renamesMedia ? { ...media, id: `9${id}` } : media
    },

    find(account: Account, id: string): SandboxResponse {
      const media = own(account, id)
      if (media.isBroken && Date.now() >= media.readyAt) throw new Refusal(422, BROKEN)
      return { status: isReady(media) ? 200 : 206, body: present(media) }
    },

    describe(account: Account, id: string, params: Params): SandboxResponse {
      const media = state.media.set(id, { ...own(account, id), description: descriptionOf(params, limits) })
      return { status: 200, body: present(media) }
    },

    /** Returns the files that a new status of the account may show, or the one that is edited, in this order. */
    attachable(account: Account, ids: string[], editedId?: string): Media[] {
      if (ids.length > 4) throw new Refusal(422, 'Cannot attach more than 4 files')
      const isFree = (media: Media | undefined) =>
        media?.accountId === account.id && (media.statusId === null || media.statusId === editedId)
      const [free, missing] = [true, false].map((wanted) => ids.filter((id) => isFree(state.media.get(id)) === wanted))
      if (missing!.length > 0 && !dropsMedia) {
        throw new Refusal(422, `Media ${missing!.join(', ')} not found or already attached to another post`)
      }
      const found = free!.map((id) => state.media.get(id)!)
      const media = dropsMedia ? found.filter(isReady) : found
      if (media.length > 1 && media.some(({ kind }) => kind === 'video')) {
        throw new Refusal(422, 'Cannot attach a video to a post that already contains images')
      }
      if (!media.every(isReady)) {
        throw new Refusal(422, 'Cannot attach files that have not finished processing. Try again in a moment!')
      }
      return media
    },

    async file(id: string): Promise<SandboxResponse & { bytes: Buffer }> {
      const media = state.media.get(id)
      if (!media) throw new Refusal(404, 'Record not found')
      return { status: 200, headers: { 'content-type': media.mimeType }, bytes: await readFile(join(dir, id)) }
    },
  }
}

export type MediaStore = ReturnType<typeof createMediaStore>

function descriptionOf(params: Params, { description: max }: MediaLimits): string | null {
  const description = params.text('description') ?? ''
  if ([...description].length > max) {
    throw new Refusal(422, `Validation failed: Description is too long (maximum is ${max} characters)`)
  }
  return description === '' ? null : description
}

function isReady({ readyAt, isBroken }: Media): boolean {
  return !isBroken && Date.now() >= readyAt
}
