import { PageUnavailableError } from '../../domain/posts/link.ts'
import { SECOND } from '../../domain/shared/times.ts'
import { createFairLimit, QueueFull } from '../../flow/fair-limit.ts'
import { detectType } from '../storage/stored-files.ts'
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

  /** Runs `work` in the user's turn, within the time of one page. @throws PageUnavailableError, and the reason of `signal` */
  async function readInTurn<T>({ userId, signal }: ReadOptions, work: (signal: AbortSignal) => Promise<T>): Promise<T> {
    const timeout = AbortSignal.timeout(PAGE_TIMEOUT_MS)
    const ends = AbortSignal.any([signal, timeout])
    try {
      return await limit(userId, () => work(ends), { signal: ends })
    } catch (error) {
      signal.throwIfAborted()
      if (error instanceof QueueFull || error === timeout.reason) {
        throw new PageUnavailableError('was not read, because many others are being read', { cause: error })
      }
      throw error
    }
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

    close: (): Promise<void> => http.close(),
  }
}

export type Pages = ReturnType<typeof createPages>

/** Returns all bytes of a file. @throws PageUnavailableError when there are more than `maxBytes` */
async function readWhole(file: PublicFile, maxBytes: number): Promise<Uint8Array> {
  const tooLarge = `is larger than ${maxBytes / 1_000_000} MB`
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
