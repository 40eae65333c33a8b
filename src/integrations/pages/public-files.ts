import { PageUnavailableError } from '../../domain/posts/link.ts'

/** A response whose body is read as it arrives. */
interface OpenResponse {
  status: number
  header(name: string): string | undefined
  body: AsyncIterable<Uint8Array>
  discard(): void
}

/** The HTTP client for addresses that users name. */
export interface PagesHttp {
  /** @throws an error whose message completes a sentence about the server, as the body does */
  open(call: {
    method: 'GET'
    url: URL
    headers: Record<string, string>
    signal: AbortSignal
    timeoutMs?: number
    silenceMs?: number
  }): Promise<OpenResponse>
  close(): Promise<void>
}

interface PublicFilesDeps {
  http: PagesHttp
  /** Returns whether users may name an address of this origin. */
  isAllowedOrigin(origin: string): boolean
}

/** A file of the public web that was found. */
export interface PublicFile {
  /** The address after redirects. */
  url: URL
  contentType: string
  /** Goes on after a broken connection where the server sends ranges. Throws `PageUnavailableError`. Leaving the loop over it ends the response. */
  pieces: AsyncIterable<Uint8Array>
  discard(): void
  /** The length that the server announces, bytes. */
  announcedBytes: number | undefined
}

const MAX_REDIRECTS = 5
const REDIRECT_STATUSES = [301, 302, 303, 307, 308]
const PARTIAL_CONTENT = 206
/** How often a file is resumed, each time after further bytes. */
const MAX_RESUMPTIONS = 10

interface OpenOptions {
  accept: string
  signal: AbortSignal
  /** For each response, and for its silences, milliseconds; without them the defaults of the client. */
  timeoutMs?: number
  silenceMs?: number
}

/** Opens files of the public web. Each redirect is checked as the address itself is, and every connection once more. */
export function createPublicFiles({ http, isAllowedOrigin }: PublicFilesDeps) {
  /** Returns a URL that may be called. Public servers are called over https, also where a page links to them over http. */
  function toAllowedUrl(address: string, base?: URL): URL {
    if (!URL.canParse(address, base?.href)) throw notAllowed()
    const url = new URL(address, base)
    if (!isAllowedOrigin(url.origin) && url.protocol === 'http:' && url.port === '') url.protocol = 'https:'
    if (!isAllowedOrigin(url.origin) || url.username !== '' || url.password !== '') throw notAllowed()
    return url
  }

  /** @throws PageUnavailableError when there is no file at the address that this service reads */
  return async function open(address: string, { accept, ...options }: OpenOptions): Promise<PublicFile> {
    let url = toAllowedUrl(address)
    const get = (headers: Record<string, string> = {}) =>
      http.open({ method: 'GET', url, headers: { accept, ...headers }, ...options })
    for (let redirects = 0; redirects <= MAX_REDIRECTS; redirects++) {
      const response = await get().catch(rethrow)
      const location = REDIRECT_STATUSES.includes(response.status) ? response.header('location') : undefined
      if (location === undefined) return toFile(url, response, get)
      response.discard()
      url = toAllowedUrl(location, url)
    }
    throw new PageUnavailableError('redirects too often')
  }
}

type Get = (headers: Record<string, string>) => Promise<OpenResponse>

function toFile(url: URL, response: OpenResponse, get: Get): PublicFile {
  const { status, header, discard } = response
  const problem = findProblem(status, header('content-encoding') ?? 'identity')
  if (problem !== null) {
    discard()
    throw new PageUnavailableError(problem)
  }
  const length = header('content-length')
  return {
    url,
    contentType: header('content-type') ?? '',
    pieces: readPieces(response, get),
    discard,
    announcedBytes: length === undefined ? undefined : Number(length),
  }
}

function findProblem(status: number, encoding: string): string | null {
  if (status < 200 || status > 299) return `answered with the status ${status}`
  return encoding === 'identity' ? null : 'sent an unreadable response'
}

async function* readPieces(response: OpenResponse, get: Get): AsyncGenerator<Uint8Array> {
  let { body } = response
  let received = 0
  for (let resumedAt = 0, resumptions = 0; ; resumptions++) {
    try {
      for await (const piece of body) {
        received += piece.length
        yield piece
      }
      return
    } catch (error) {
      const hasAdvanced = received > resumedAt && resumptions < MAX_RESUMPTIONS
      body = (hasAdvanced && (await resume(response, received, get).catch(() => null))) || rethrow(error)
      resumedAt = received
    }
  }
}

/** Returns the rest of a file from an offset on; null where the server does not send the rest of the same version (RFC 9110 section 14). */
async function resume({ header }: OpenResponse, offset: number, get: Get): Promise<AsyncIterable<Uint8Array> | null> {
  const tag = header('etag')
  // Weak tags and times do not prove that the bytes are the same.
  if (tag === undefined || tag.startsWith('W/')) return null
  const rest = await get({ range: `bytes=${offset}-`, 'if-range': tag })
  const isRest = rest.status === PARTIAL_CONTENT && rest.header('content-range')?.startsWith(`bytes ${offset}-`)
  if (isRest && findProblem(rest.status, rest.header('content-encoding') ?? 'identity') === null) return rest.body
  rest.discard()
  return null
}

function rethrow(error: unknown): never {
  throw new PageUnavailableError((error as Error).message, { cause: error })
}

function notAllowed(): PageUnavailableError {
  return new PageUnavailableError('is not at a public address')
}
