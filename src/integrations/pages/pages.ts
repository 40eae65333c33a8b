import { PageUnavailableError } from '../../domain/posts/link.ts'
import { MAX_UPLOAD_BYTES, MEDIA_TYPES, toMediaKind, type MediaKind } from '../../domain/posts/posting-rules.ts'
import { SECOND } from '../../domain/shared/times.ts'
import { createFairLimit, QueueFull } from '../../flow/fair-limit.ts'
import { detectType, normalizeType } from '../storage/stored-files.ts'
import { readPageHead, toImageUrl } from './page-head.ts'
import { createPublicFiles, type PagesHttp, type PublicFile } from './public-files.ts'

interface PagesOptions {
  http: PagesHttp
  /** Returns whether users may name an address of this origin. Every connection checks the address as well. */
  isAllowedOrigin(origin: string): boolean
}

interface ReadOptions {
  /** The user whose turn it is. */
  userId: string
  signal: AbortSignal
}

/** For everything, from the wait for a turn to the last byte. */
const PAGE_TIMEOUT_MS = 5 * SECOND
const MAX_IMAGE_BYTES = 5_000_000
const MAX_RUNNING = 16
const MAX_RUNNING_PER_USER = 2
const MAX_WAITING_PER_USER = 20

/** Larger videos take longer than a request may. */
const MAX_MEDIA_BYTES: Record<MediaKind, number> = { image: MAX_UPLOAD_BYTES.image, video: 20_000_000 }
/** The files are in memory. */
const MAX_FILES = 6
const MAX_FILES_PER_USER = 3

const ACCEPT_PAGES = 'text/html,application/xhtml+xml'
const ACCEPT_IMAGES = 'image/jpeg,image/png,image/webp,image/gif'
const HTML = /^\s*(?:text\/html|application\/xhtml\+xml)\s*(?:;|$)/i
/** The types that can be converted. Others may refer to files, or expand without limit. */
const IMAGE_TYPES = ACCEPT_IMAGES.split(',')

/** Reads pages of the public web, and their preview images (docs/design/security.md#servers-that-users-name). */
export function createPages({ http, isAllowedOrigin }: PagesOptions) {
  const open = createPublicFiles({ http, isAllowedOrigin })
  const limit = createFairLimit({
    maxRunning: MAX_RUNNING,
    perKey: MAX_RUNNING_PER_USER,
    waitingPerKey: MAX_WAITING_PER_USER,
  })

  const limitFiles = createFairLimit({
    maxRunning: MAX_FILES,
    perKey: MAX_FILES_PER_USER,
    waitingPerKey: MAX_WAITING_PER_USER,
  })

  /** Runs `work` in the user's turn, within the time of one page. @throws PageUnavailableError, and the reason of `signal` */
  async function readInTurn<T>({ userId, signal }: ReadOptions, work: (signal: AbortSignal) => Promise<T>): Promise<T> {
    const timeout = AbortSignal.timeout(PAGE_TIMEOUT_MS)
    const ends = AbortSignal.any([signal, timeout])
    return limit(userId, () => work(ends), { signal: ends }).catch((error: unknown) => {
      signal.throwIfAborted()
      throw error === timeout.reason ? tooBusy(error) : toUnavailable(error)
    })
  }

  return {
    /**
     * Returns what a page says about itself.
     * @throws PageUnavailableError, and the reason of `signal`
     */
    describe: (address: string, options: ReadOptions) =>
      readInTurn(options, async (signal) => {
        const page = await open(address, { accept: ACCEPT_PAGES, signal })
        refuseUnless(page.contentType === '' || HTML.test(page.contentType), page, 'is no web page')
        const { title, description, image } = await readPageHead(page.pieces, page.contentType)
        if (title === '') throw new PageUnavailableError('has no title')
        return {
          url: page.url.href,
          title,
          description: description === '' ? null : description,
          imageUrl: toImageUrl(image, page.url),
        }
      }),

    /**
     * Returns the bytes of an image that can be converted, at most 5 MB.
     * @throws PageUnavailableError, and the reason of `signal`
     */
    readImage: (address: string, options: ReadOptions): Promise<Uint8Array> =>
      readInTurn(options, async (signal) => {
        const bytes = await readWhole(await open(address, { accept: ACCEPT_IMAGES, signal }), MAX_IMAGE_BYTES)
        const type = await detectType(bytes)
        if (type === undefined || !IMAGE_TYPES.includes(type)) throw new PageUnavailableError('is no image')
        return bytes
      }),

    /**
     * Returns an image or video with its type, at most 10 MB or 20 MB.
     * @param options.kind the kind that the file must have
     * @throws PageUnavailableError, and the reason of `signal`
     */
    fetchMedia: (address: string, { userId, signal, kind }: ReadOptions & { kind: MediaKind }) => {
      const fetch = async () => {
        const step = kind === 'video' ? '. Larger ones must be uploaded' : ''
        const bytes = await readWhole(await open(address, { accept: `${kind}/*`, signal }), MAX_MEDIA_BYTES[kind], step)
        const mimeType = normalizeType((await detectType(bytes)) ?? '')
        if (toMediaKind(mimeType) !== kind || !MEDIA_TYPES[kind].includes(mimeType)) {
          throw new PageUnavailableError(`is no ${kind} in ${MEDIA_TYPES[kind].join(' or ')}`)
        }
        return { bytes, mimeType }
      }
      return limitFiles(userId, fetch, { signal }).catch((error: unknown) => {
        signal.throwIfAborted()
        throw toUnavailable(error)
      })
    },

    close: (): Promise<void> => http.close(),
  }
}

export type Pages = ReturnType<typeof createPages>

function toUnavailable(error: unknown): unknown {
  return error instanceof QueueFull ? tooBusy(error) : error
}

function tooBusy(cause: unknown): PageUnavailableError {
  return new PageUnavailableError('was not read, because many others are being read', { cause })
}

/**
 * Returns all bytes of a file.
 * @param step what a message about a larger file says besides
 * @throws PageUnavailableError when there are more than `maxBytes`
 */
async function readWhole(file: PublicFile, maxBytes: number, step = ''): Promise<Uint8Array> {
  const tooLarge = `is larger than ${maxBytes / 1_000_000} MB${step}`
  refuseUnless((file.announcedBytes ?? 0) <= maxBytes, file, tooLarge)
  const pieces: Uint8Array[] = []
  let bytes = 0
  for await (const piece of file.pieces) {
    bytes += piece.length
    if (bytes > maxBytes) throw new PageUnavailableError(tooLarge)
    pieces.push(piece)
  }
  return Buffer.concat(pieces)
}

function refuseUnless(isAccepted: boolean, file: PublicFile, problem: string): void {
  if (isAccepted) return
  file.discard()
  throw new PageUnavailableError(problem)
}
