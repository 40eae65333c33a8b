import { parseForeignJson } from '../../domain/shared/json-text.ts'
import { isWebUrl } from '../../domain/shared/links.ts'
import { stripInvisible, takeCodePoints } from '../../domain/shared/text.ts'
import type { CallOptions, Credentials, Profile } from '../contract.ts'
import { PlatformError } from '../errors.ts'
import { ignoreBody } from '../shared/calls.ts'
import { parseCount } from '../shared/counts.ts'
import { readProfile, readSession, type Session } from './responses.ts'
import { isRefusedAs } from './errors.ts'
import type { Identities } from './identities.ts'
import type { ServiceAddresses } from './service-addresses.ts'
import { asAccount, type Xrpc } from './xrpc.ts'

interface SessionDeps {
  xrpc: Xrpc
  /** The client for calls that can wait. */
  reading: Xrpc
  services: ServiceAddresses
  identities: Identities
}

type Secrets = Omit<Credentials, 'version'>

/** The server's placeholder for a handle it could not verify; the last verified handle is used instead. */
const INVALID_HANDLE = 'handle.invalid'
/** The scope of sessions from the account's main password; app passwords have other scopes. */
const MAIN_PASSWORD_SCOPE = 'com.atproto.access'
/** Profiles come from the account's server and are stored. */
const MAX_NAME_LENGTH = 255
const MAX_DESCRIPTION_LENGTH = 5_000
const MAX_URL_LENGTH = 2_048
const MAIN_PASSWORD =
  'This is the main password of the Bluesky account. Create an app password in Bluesky under Settings > Privacy and security > ' +
  'App passwords, and use it instead.'

/** Opens, renews and ends sessions, and reads profiles. */
export function createSessions({ xrpc, reading, services, identities }: SessionDeps) {
  async function connect(identifier: string, secret: string, options: CallOptions) {
    const name = normalizeIdentifier(identifier)
    const identity = await identities.find(name, options)
    const opener = identity?.service ?? services.entryUrl
    const input = { identifier: identity?.did ?? name, password: secret.trim() }
    const session = await xrpc
      .procedure({ service: opener, nsid: 'com.atproto.server.createSession', input }, readSession, options)
      .catch(rethrowAsWrongCredentials)
    if (identity) assertSameAccount(session, identity.did)
    const service = services.resolveForSession(session, opener)
    if (parseClaims(session.accessJwt).scope === MAIN_PASSWORD_SCOPE) {
      await deleteSession(service, session.refreshJwt, options).catch(() => undefined)
      throw new PlatformError('permission', MAIN_PASSWORD, { certain: true })
    }
    if (session.active === false) {
      throw new PlatformError('blocked_by_platform', 'This Bluesky account is not active', { certain: true })
    }
    const credentials = toSecrets(session, service)
    return { credentials, profile: await fetchProfileOrHandle(credentials, options) }
  }

  async function renew(account: Credentials, options: CallOptions): Promise<Secrets> {
    if (account.refreshToken === undefined) {
      throw new PlatformError('unauthorized', 'The Bluesky login has expired', { certain: true })
    }
    const opener = services.resolve(account)
    const session = await xrpc
      .procedure({ service: opener, nsid: 'com.atproto.server.refreshSession', input: null }, readSession, {
        ...options,
        token: account.refreshToken,
        userId: account.userId,
      })
      .catch(rethrowAsLostAccount)
    assertSameAccount(session, account.accountId)
    const renewed = toSecrets(session, services.resolveForSession(session, opener))
    return session.handle === INVALID_HANDLE ? { ...renewed, handle: account.handle } : renewed
  }

  async function revoke(account: Credentials, options: CallOptions): Promise<void> {
    if (account.refreshToken !== undefined)
      await deleteSession(services.resolve(account), account.refreshToken, options)
  }

  async function deleteSession(server: string, token: string, options: CallOptions): Promise<void> {
    await xrpc.procedure({ service: server, nsid: 'com.atproto.server.deleteSession', input: null }, ignoreBody, {
      ...options,
      token,
    })
  }

  function fetchProfileView(account: Secrets, options: CallOptions) {
    const params = { actor: account.accountId }
    const call = { ...options, ...asAccount(account) }
    return reading.query(
      { service: services.resolve(account), nsid: 'app.bsky.actor.getProfile', params },
      readProfile,
      call,
    )
  }

  async function followers(account: Credentials, options: CallOptions): Promise<number | null> {
    return parseCount((await fetchProfileView(account, options)).followersCount)
  }

  async function profile(account: Secrets, options: CallOptions): Promise<Profile> {
    const view = await fetchProfileView(account, options)
    const handle = view.handle === INVALID_HANDLE ? account.handle : view.handle
    const displayName = takeCodePoints(view.displayName?.trim() ?? '', MAX_NAME_LENGTH)
    return {
      displayName: displayName || handle,
      handle,
      avatar: isWebUrl(view.avatar) && view.avatar.length <= MAX_URL_LENGTH ? view.avatar : null,
      ...(view.description !== undefined && { description: takeCodePoints(view.description, MAX_DESCRIPTION_LENGTH) }),
    }
  }

  /** A missing profile is no reason to refuse a valid login. */
  async function fetchProfileOrHandle(credentials: Secrets, options: CallOptions): Promise<Profile> {
    try {
      return await profile(credentials, options)
    } catch {
      return { displayName: credentials.handle, handle: credentials.handle, avatar: null }
    }
  }

  return { connect, renew, revoke, profile, followers }
}

function normalizeIdentifier(identifier: string): string {
  return stripInvisible(identifier).trim().replace(/^@/, '')
}

/** A server can open sessions for its own accounts only, and a hostile one may name any. */
function assertSameAccount({ did }: Session, expected: string): void {
  if (did === expected) return
  throw new PlatformError('unauthorized', 'The server of this Bluesky account opened another account', {
    certain: true,
  })
}

/** Problems of the account itself have their own messages; every other refusal concerns the typed-in credentials. */
const ACCOUNT_PROBLEMS = ['AccountTakedown', 'AccountDeactivated', 'AuthFactorTokenRequired']

function rethrowAsWrongCredentials(error: unknown): never {
  const isRefused = error instanceof PlatformError && (error.class === 'unauthorized' || error.class === 'validation')
  if (!isRefused) throw error
  if (ACCOUNT_PROBLEMS.some((code) => isRefusedAs(error, code))) {
    throw new PlatformError('blocked_by_platform', error.message, { certain: true, cause: error.cause })
  }
  throw new PlatformError('unauthorized', 'Bluesky does not accept this handle and app password', {
    certain: true,
    cause: error.cause,
  })
}

/** With a valid token, `InvalidRequest` means that the account no longer exists on the server. */
function rethrowAsLostAccount(error: unknown): never {
  if (!isRefusedAs(error, 'InvalidRequest')) throw error
  throw new PlatformError('unauthorized', 'This Bluesky account no longer exists', {
    certain: true,
    cause: error,
  })
}

function toSecrets(session: Session, serviceUrl: string): Secrets {
  const expiresAt = parseExpiry(session.accessJwt)
  const endsAt = parseExpiry(session.refreshJwt)
  return {
    accountId: session.did,
    handle: session.handle,
    serviceUrl,
    accessToken: session.accessJwt,
    refreshToken: session.refreshJwt,
    ...(expiresAt && { expiresAt }),
    ...(endsAt && { endsAt }),
  }
}

/** Returns the expiry stated in a token; tokens without one are used until they are refused. */
function parseExpiry(jwt: string): Date | undefined {
  const { exp } = parseClaims(jwt)
  return typeof exp === 'number' ? new Date(exp * 1_000) : undefined
}

/** Returns the unverified claims of a token; empty when it is not a JWT. */
function parseClaims(jwt: string): { exp?: unknown; scope?: unknown } {
  const claims = parseForeignJson(Buffer.from(jwt.split('.')[1] ?? '', 'base64url').toString())
  return typeof claims === 'object' && claims !== null ? claims : {}
}
