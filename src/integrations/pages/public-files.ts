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
  open(call: { method: 'GET'; url: URL; headers: Record<string, string>; signal: AbortSignal }): Promise<OpenResponse>
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
  /** Throws `PageUnavailableError`. Leaving the loop over it ends the response. */
  pieces: AsyncIterable<Uint8Array>
  discard(): void
  /** The length that the server announces, bytes. */
  announcedBytes: number | undefined
}

const MAX_REDIRECTS = 5
const REDIRECT_STATUSES = [301, 302, 303, 307, 308]

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
  return async function open(
    address: string,
    { accept, signal }: { accept: string; signal: AbortSignal },
  ): Promise<PublicFile> {
    let url = toAllowedUrl(address)
    for (let redirects = 0; redirects <= MAX_REDIRECTS; redirects++) {
      const response = await http.open({ method: 'GET', url, headers: { accept }, signal }).catch(rethrow)
      const location = REDIRECT_STATUSES.includes(response.status) ? response.header('location') : undefined
      if (location === undefined) return toFile(url, response)
      response.discard()
      url = toAllowedUrl(location, url)
    }
    throw new PageUnavailableError('redirects too often')
  }
}

function toFile(url: URL, { status, header, body, discard }: OpenResponse): PublicFile {
  const problem = findProblem(status, header('content-encoding') ?? 'identity')
  if (problem !== null) {
    discard()
    throw new PageUnavailableError(problem)
  }
  const length = header('content-length')
  return {
    url,
    contentType: header('content-type') ?? '',
    pieces: readPieces(body),
    discard,
    announcedBytes: length === undefined ? undefined : Number(length),
  }
}

function findProblem(status: number, encoding: string): string | null {
  if (status < 200 || status > 299) return `answered with the status ${status}`
  return encoding === 'identity' ? null : 'sent an unreadable response'
}

async function* readPieces(body: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  try {
    yield* body
  } catch (error) {
    rethrow(error)
  }
}

function rethrow(error: unknown): never {
  throw new PageUnavailableError((error as Error).message, { cause: error })
}

function notAllowed(): PageUnavailableError {
  return new PageUnavailableError('is not at a public address')
}
