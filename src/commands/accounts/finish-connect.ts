import type { Context } from '../../context.ts'
import type { ConnectOutcome, ConnectReason } from '../../domain/accounts/platform-connect.ts'
import { toPlatformReason, type PlatformReason } from '../../domain/posts/platform-reason.ts'
import type { Platform } from '../../domain/shared/platforms.ts'
import { ServiceError } from '../../domain/shared/service-error.ts'
import { SECOND } from '../../domain/shared/times.ts'
import type { RedirectConnect } from '../../platforms/contract.ts'
import { PlatformError } from '../../platforms/errors.ts'
import type { AttemptName, ConnectAttempt } from '../../store/accounts/connect-attempts.ts'
import { connectAttemptContext, openAttemptSecrets } from '../shared/attempt-secrets.ts'
import { hashOf } from '../../security/random.ts'
import { storeConnection, type StoreConnectionDeps } from './store-connection.ts'

interface FinishConnectDeps
  extends StoreConnectionDeps, Pick<Context, 'connectStates' | 'connectAttempts' | 'sessions' | 'clock'> {
  users: Context['users']
  platforms: StoreConnectionDeps['platforms'] & { redirect(platform: Platform): RedirectConnect | null }
}

interface FinishConnect {
  platform: Platform
  /** The callback's own address, as it was when the attempt was begun. */
  redirectUri: string
  /** What the platform sent along, each parameter once. */
  query: Record<string, string>
  /** What the caller shows of the browser it was begun in. */
  binding: string | undefined
  /** Whether an attempt that was begun by no browser may be finished by this caller. */
  mayBeUnbound: boolean
}

interface FinishedConnect {
  outcome: ConnectOutcome
  /** Null when the account was connected. */
  reason: ConnectReason | null
  /** Why it failed, where that is more than the reason says. */
  cause?: unknown
  /** The word that OAuth has for the refusal, and its description; null when the platform gave none. */
  platformReason?: PlatformReason | null
}

export const ATTEMPT_INVALID: FinishedConnect = { outcome: 'state_invalid', reason: 'ATTEMPT_INVALID' }

const COMPLETE_TIMEOUT_MS = 10 * SECOND

/**
 * Finishes what `beginConnect` began. The platform is asked only for an attempt that is ours, open, in the right browser, and used up
 * by this very call: of many callbacks with one state exactly one exchanges the code.
 * @throws errors of the database before the attempt was used up
 */
export async function finishConnect(deps: FinishConnectDeps, input: FinishConnect): Promise<FinishedConnect> {
  const { platform, redirectUri, query } = input
  const redirect = deps.platforms.redirect(platform)
  const attempt = redirect && (await takeAttempt(deps, redirect, input))
  if (!redirect || !attempt?.secrets || !(await isStillWanted(deps, attempt))) return ATTEMPT_INVALID
  if (query['error'] !== undefined) return refusedByPlatform(query)
  const secrets = openAttemptSecrets(deps.cipher, connectAttemptContext(attempt), attempt.secrets)
  try {
    const signal = AbortSignal.timeout(COMPLETE_TIMEOUT_MS)
    const connection = await redirect.complete({ query, redirectUri, secrets }, { signal })
    await storeConnection(deps, attempt.userId, platform, connection)
    return { outcome: 'connected', reason: null }
  } catch (cause) {
    const outcome = isRefusal(cause) ? 'auth_failed' : 'connect_failed'
    const said = cause instanceof PlatformError ? cause.platformReason : null
    return { outcome, reason: reasonOf(cause), cause, platformReason: said }
  }
}

async function takeAttempt(
  { connectAttempts, connectStates, clock }: FinishConnectDeps,
  { lookupParameter }: RedirectConnect,
  input: FinishConnect,
): Promise<ConnectAttempt | null> {
  const now = clock.now()
  const name = nameAttempt(connectStates, lookupParameter, input, now)
  const bindingHashes = [
    ...(input.binding === undefined ? [] : [hashOf(input.binding)]),
    ...(input.mayBeUnbound ? [null] : []),
  ]
  return name && bindingHashes.length > 0 ? await connectAttempts.consume(name, bindingHashes, now) : null
}

/** By the state. A platform that knows none names it by what it gave out itself; a state that comes back all the same has to be right. */
function nameAttempt(
  connectStates: FinishConnectDeps['connectStates'],
  lookupParameter: string | undefined,
  { platform, redirectUri, query }: FinishConnect,
  now: Date,
): AttemptName | null {
  const lookup = lookupParameter === undefined ? undefined : query[lookupParameter]
  if (lookupParameter !== undefined && lookup === undefined) return null
  const state = query['state']
  if (state === undefined) return lookup === undefined ? null : { platform, lookupHash: hashOf(lookup) }
  const said = connectStates.read(state, { platform, redirectUri }, now)
  if (!said) return null
  const byState = { platform, _id: hashOf(said.nonce), userId: said.userId }
  return lookup === undefined ? byState : { ...byState, lookupHash: hashOf(lookup) }
}

/** The callback carries no session, so it is as good as the one it was begun in: logging out and disabling end it as well. */
async function isStillWanted(
  { users, sessions, clock }: FinishConnectDeps,
  { userId, sessionId }: ConnectAttempt,
): Promise<boolean> {
  const [user, session] = await Promise.all([users.findById(userId), sessions.find(sessionId)])
  return user?.isDisabled === false && session?.userId === userId && session.expiresAt > clock.now()
}

/** The platform or the user said no; anything else may go better another time. */
function isRefusal(error: unknown): error is PlatformError {
  if (!(error instanceof PlatformError)) return false
  return ['unauthorized', 'permission', 'validation', 'blocked_by_platform'].includes(error.class)
}

function reasonOf(error: unknown): ConnectReason {
  if (error instanceof PlatformError) return error.connectReason
  return error instanceof ServiceError && error.code === 'ACCOUNT_ALREADY_CONNECTED' ? error.code : 'INTERNAL'
}

/** A callback with an error brings no login, whatever else it has (RFC 6749 section 4.1.2.1). */
function refusedByPlatform({ error, error_description: text }: Record<string, string>): FinishedConnect {
  return {
    outcome: 'auth_failed',
    reason: error === 'access_denied' ? 'DENIED' : 'LOGIN_REFUSED',
    cause: new Error('The platform sent an error instead of a login'),
    platformReason: toPlatformReason({ code: error, text }),
  }
}
