import { Readable } from 'node:stream'
import { PageUnavailableError } from '../../domain/posts/link.ts'
import { MAX_UPLOAD_BYTES, MEDIA_TYPES, toMediaKind, type MediaKind } from '../../domain/posts/posting-rules.ts'
import { SECOND } from '../../domain/shared/times.ts'
import { createFairLimit, QueueFull } from '../../flow/fair-limit.ts'
import { detectType, normalizeType, SNIFF_BYTES } from '../storage/stored-files.ts'
import { readPageHead, toImageUrl } from './page-head.ts'
import { createPublicFiles, type PagesHttp, type PublicFile } from './public-files.ts'

interface PagesOptions {
  http: PagesHttp
  /** Returns whether users may name an address of this origin. Every connection checks the address as well. */
  isAllowedOrigin(origin: string): boolean
}

/** A file while it arrives. */
export interface ArrivingFile {
  mimeType: string
  sizeBytes: number
  /** Throws `PageUnavailableError`, also where the size differs from the announced one. */
  bytes: AsyncIterable<Uint8Array>
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
const MAX_MEDIA_BYTES: Record<MediaKind, number> = { image: MAX_UPLOAD_BYTES.image, video: 100_000_000 }
/** A file whose server does not announce its length is in memory: 120 MB at most, with all that are fetched concurrently. */
const MAX_UNANNOUNCED_BYTES = 10_000_000
/** A server that sends nothing for so long is asked once more for the rest. */
const MAX_SILENCE_MS = 10 * SECOND
const MAX_FILES = 12
const MAX_FILES_PER_USER = 2

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
     * Hands an image of at most 10 MB, or a video of at most 100 MB, to `store` while it arrives, and returns what that returns.
     * @param options.kind the kind that the file must have
     * @param options.timeoutMs for the whole file
     * @throws PageUnavailableError, the reason of `signal`, and the errors of `store`
     */
    fetchMedia: <T>(
      address: string,
      { userId, signal, kind, timeoutMs }: ReadOptions & { kind: MediaKind; timeoutMs: number },
      store: (file: ArrivingFile) => Promise<T>,
    ): Promise<T> => {
      const fetch = async () => {
        const file = await open(address, { accept: `${kind}/*`, signal, timeoutMs, silenceMs: MAX_SILENCE_MS })
        try {
          return await store(await toArriving(file, kind))
        } finally {
          // Nothing else may have read it to its end.
          file.discard()
        }
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

/** Reads the beginning of a file, which shows its type, and all of it where the server does not announce its length. */
async function toArriving(file: PublicFile, kind: MediaKind): Promise<ArrivingFile> {
  const step = kind === 'video' ? '. Upload it instead' : ''
  const { announcedBytes } = file
  if (announcedBytes === undefined) {
    const bytes = await readWhole(file, MAX_UNANNOUNCED_BYTES, step)
    return { mimeType: await readType(bytes, kind), sizeBytes: bytes.length, bytes: Readable.from([bytes]) }
  }
  refuseUnless(announcedBytes <= MAX_MEDIA_BYTES[kind], file, toTooLarge(MAX_MEDIA_BYTES[kind], step))
  const pieces = file.pieces[Symbol.asyncIterator]()
  const head: Uint8Array[] = []
  for (let bytes = 0; bytes < Math.min(SNIFF_BYTES, announcedBytes);) {
    const { value, done } = await pieces.next()
    if (done) break
    head.push(value)
    bytes += value.length
  }
  const mimeType = await readType(Buffer.concat(head), kind)
  return { mimeType, sizeBytes: announcedBytes, bytes: readExactly(head, pieces, announcedBytes) }
}

/** @throws PageUnavailableError when the file is of another kind, or of a type that is not published */
async function readType(head: Uint8Array, kind: MediaKind): Promise<string> {
  const mimeType = normalizeType((await detectType(head)) ?? '')
  if (toMediaKind(mimeType) === kind && MEDIA_TYPES[kind].includes(mimeType)) return mimeType
  throw new PageUnavailableError(`is no ${kind} in ${MEDIA_TYPES[kind].join(' or ')}`)
}

async function* readExactly(
  head: Uint8Array[],
  rest: AsyncIterator<Uint8Array>,
  announcedBytes: number,
): AsyncGenerator<Uint8Array> {
  let bytes = 0
  try {
    for (;;) {
      const piece = head.shift() ?? (await rest.next()).value
      if (piece === undefined) break
      bytes += piece.length
      if (bytes > announcedBytes) break
      yield piece
    }
    if (bytes !== announcedBytes) throw new PageUnavailableError('has another size than its server announced')
  } finally {
    await rest.return?.()
  }
}

/**
 * Returns all bytes of a file.
 * @param step what a message about a larger file says besides
 * @throws PageUnavailableError when there are more than `maxBytes`
 */
async function readWhole(file: PublicFile, maxBytes: number, step = ''): Promise<Uint8Array> {
  refuseUnless((file.announcedBytes ?? 0) <= maxBytes, file, toTooLarge(maxBytes, step))
  const pieces: Uint8Array[] = []
  let bytes = 0
  for await (const piece of file.pieces) {
    bytes += piece.length
    if (bytes > maxBytes) throw new PageUnavailableError(toTooLarge(maxBytes, step))
    pieces.push(piece)
  }
  return Buffer.concat(pieces)
}

const toTooLarge = (maxBytes: number, step: string) => `is larger than ${maxBytes / 1_000_000} MB${step}`

function refuseUnless(isAccepted: boolean, file: PublicFile, problem: string): void {
  if (isAccepted) return
  file.discard()
  throw new PageUnavailableError(problem)
}
