import { ApiError, createClient, logIn, type Client, type components } from '@postonce/sdk'
import { useSyncExternalStore } from 'react'
import { failures, queryClient } from './query-client.ts'
import { apiUrl } from '../shared/page-settings.ts'

export type User = components['schemas']['User']

export type SessionState =
  | { kind: 'starting' }
  | { kind: 'unreachable'; error: unknown }
  | { kind: 'signedOut' }
  /** `ended` means that the user must log in again, while what was typed stays on the page. */
  | { kind: 'signedIn'; user: User; ended: boolean }

/** The browser sends and stores the refresh cookie itself, also when the API has another origin. */
const withCookies: typeof fetch = (input, init) => fetch(input, { ...init, credentials: 'include' })

/** In memory only: after a reload the refresh cookie brings a new one. */
let accessToken = ''
let state: SessionState = { kind: 'starting' }
const listeners = new Set<() => void>()

/** Without an access token the first request is refused, and the client exchanges the refresh cookie for one. */
export let client: Client = openClient()

function openClient(): Client {
  return createClient({
    url: apiUrl,
    session: { accessToken, refreshToken: null },
    onSessionChange: (session) => {
      accessToken = session.accessToken
    },
    fetch: withCookies,
    client: 'console',
  })
}

function become(next: SessionState): void {
  state = next
  for (const listener of listeners) listener()
}

export function useSession(): SessionState {
  return useSyncExternalStore(subscribe, () => state)
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener)
  return () => listeners.delete(listener)
}

/** The user who is signed in. Only for what the layout of signed-in users renders. */
export function useUser(): User {
  const session = useSession()
  if (session.kind !== 'signedIn') throw new Error('No user is signed in.')
  return session.user
}

/** The current access token, for the stream of notifications; empty before the first answer of the API. */
export const currentAccessToken = (): string => accessToken

/**
 * Set while this browser may have a refresh cookie, which pages cannot see. Without it the service is not asked: a visitor would get a
 * refusal in the log of the browser at every page.
 */
const HINT = 'postonce.signed-in'

/** Reads who is signed in. `token` is the access token of a login that has just ended. */
export async function startSession(token = ''): Promise<void> {
  if (token === '' && localStorage.getItem(HINT) === null) return become({ kind: 'signedOut' })
  try {
    takeToken(token === '' ? (await client.request('POST', '/api/auth/refresh')).accessToken : token)
    const { user } = await client.request('GET', '/api/auth/me')
    enter(user)
  } catch (error) {
    if (isEnd(error)) forget()
    else become({ kind: 'unreachable', error })
  }
}

function enter(user: User): void {
  localStorage.setItem(HINT, 'yes')
  become({ kind: 'signedIn', user, ended: false })
}

/** Logs in with a password. @throws ApiError, ConnectionError */
export async function signIn(email: string, password: string): Promise<void> {
  const session = await logIn({ url: apiUrl, email, password, fetch: withCookies })
  const previous = state.kind === 'signedIn' ? state.user._id : null
  takeToken(session.accessToken)
  const { user } = await client.request('GET', '/api/auth/me')
  // What another user has read may not be shown.
  if (previous !== null && previous !== user._id) queryClient.clear()
  enter(user)
  await queryClient.invalidateQueries()
}

/** Ends this session here and at the service. */
export async function signOut(): Promise<void> {
  await client.request('DELETE', '/api/auth/logout')
  forget()
}

/** Forgets the session here, after the service has ended it. */
export function forget(): void {
  localStorage.removeItem(HINT)
  takeToken('')
  queryClient.clear()
  become({ kind: 'signedOut' })
}

/** Reads the user again, after a change of profile or plan. */
export async function refreshUser(): Promise<void> {
  const { user } = await client.request('GET', '/api/auth/me')
  if (state.kind === 'signedIn') become({ ...state, user })
}

function takeToken(token: string): void {
  accessToken = token
  client = openClient()
}

/** The user must log in again when any query or mutation shows that the session has ended. */
failures.addEventListener('failure', (event) => {
  const { detail } = event as CustomEvent<unknown>
  if (state.kind === 'signedIn' && !state.ended && isEnd(detail)) become({ ...state, ended: true })
})

function isEnd(error: unknown): boolean {
  return error instanceof ApiError && (error.code === 'UNAUTHORIZED' || error.code === 'ACCOUNT_DISABLED')
}
