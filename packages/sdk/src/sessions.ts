import { ConnectionError, readApiError } from './errors.ts'
import type { components } from './generated/schema.ts'
import { assertServiceUrl } from './service-url.ts'

/** The tokens of a login. */
export interface Session {
  accessToken: string
  /** `null` in a browser, which stores the refresh cookie itself. */
  refreshToken: string | null
}

const TIMEOUT_MS = 60_000

export interface LogInOptions {
  /** Address of the service, such as `https://postonce.example.com`. */
  url: string
  email: string
  password: string
  fetch?: typeof fetch
}

/**
 * Logs in with email address and password.
 * @throws TypeError for an address without a scheme; ApiError with `INVALID_CREDENTIALS`, or `RATE_LIMITED` after too many failures; ConnectionError
 */
export async function logIn({ url, email, password, fetch: fetchOnce = fetch }: LogInOptions): Promise<Session> {
  assertServiceUrl(url)
  const content = {
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ email, password }),
  }
  return openSession(new URL('/api/auth/login', url), content, null, fetchOnce)
}

/**
 * Exchanges the refresh token for new tokens. A repeated exchange returns the same tokens, so a lost response does no harm.
 * @throws ApiError with `UNAUTHORIZED` when the session has ended; ConnectionError
 */
export async function refreshSession(
  url: string,
  { refreshToken }: Session,
  fetchOnce: typeof fetch,
): Promise<Session> {
  const content = refreshToken === null ? {} : { headers: { cookie: `refreshToken=${refreshToken}` } }
  return openSession(new URL('/api/auth/refresh', url), content, refreshToken, fetchOnce)
}

async function openSession(
  url: URL,
  content: RequestInit,
  previous: string | null,
  fetchOnce: typeof fetch,
): Promise<Session> {
  const signal = AbortSignal.timeout(TIMEOUT_MS)
  const response = await fetchOnce(url, { method: 'POST', credentials: 'include', signal, ...content }).catch(
    (error: unknown) => {
      throw new ConnectionError(`${url.origin} cannot be reached.`, { cause: error })
    },
  )
  if (!response.ok) throw await readApiError(response)
  const { data } = (await response.json()) as { data: Pick<components['schemas']['LoggedIn'], 'accessToken'> }
  const cookie = response.headers.getSetCookie().find((line) => line.startsWith('refreshToken='))
  const refreshToken = cookie?.slice('refreshToken='.length).split(';')[0] ?? previous
  return { accessToken: data.accessToken, refreshToken }
}
