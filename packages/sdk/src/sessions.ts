import { PostonceError, readApiError } from './errors.ts'
import type { components } from './generated/schema.ts'

/** The tokens of a login. */
export interface Session {
  accessToken: string
  /** `null` in a browser, which stores the refresh cookie itself. */
  refreshToken: string | null
}

export interface LogInOptions {
  /** Address of the service, such as `https://postonce.example.com`. */
  url: string
  email: string
  password: string
  fetch?: typeof fetch
}

/**
 * Logs in with email address and password.
 * @throws ApiError with `INVALID_CREDENTIALS`, or `RATE_LIMITED` after too many failures
 */
export async function logIn({ url, email, password, fetch: send = fetch }: LogInOptions): Promise<Session> {
  const response = await send(new URL('/api/auth/login', url), {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ email, password }),
    credentials: 'include',
  })
  return readSession(response, null)
}

/**
 * Exchanges the refresh token for new tokens. A repeated exchange returns the same tokens, so a lost response does no harm.
 * @throws ApiError with `UNAUTHORIZED` when the session has ended
 */
export async function refreshSession(url: string, session: Session, send: typeof fetch): Promise<Session> {
  const response = await send(new URL('/api/auth/refresh', url), {
    method: 'POST',
    ...(session.refreshToken === null ? {} : { headers: { cookie: `refreshToken=${session.refreshToken}` } }),
    credentials: 'include',
  })
  return readSession(response, session.refreshToken)
}

async function readSession(response: Response, previous: string | null): Promise<Session> {
  if (!response.ok) throw await readApiError(response)
  const { data } = (await response.json()) as { data: Pick<components['schemas']['LoggedIn'], 'accessToken'> }
  if (typeof data?.accessToken !== 'string') throw new PostonceError('The response to the login has no access token.')
  const cookie = response.headers.getSetCookie().find((line) => line.startsWith('refreshToken='))
  const refreshToken = cookie?.slice('refreshToken='.length).split(';')[0] ?? previous
  return { accessToken: data.accessToken, refreshToken }
}
