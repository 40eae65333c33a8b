import type { Context } from '../context.ts'
import type { ConnectOutcome } from '../domain/platform-connect.ts'
import type { Platform } from '../domain/platforms.ts'
import { SECOND } from '../domain/times.ts'
import type { RedirectConnect } from '../platforms/adapter.ts'
import { PlatformError } from '../platforms/errors.ts'
import type { AttemptName, ConnectAttempt } from '../store/connect-attempts.ts'
import { connectAttemptContext, openAttemptSecrets } from './attempt-secrets.ts'
import { hashOf } from './random-secrets.ts'
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
  /** Why it was refused, where that is more than the outcome says. */
  cause?: PlatformError
}

const COMPLETE_TIMEOUT_MS = 10 * SECOND

/**
 * Finishes what `beginConnect` began. The platform is asked only for an attempt that is ours, open, in the right browser, and used up
 * by this very call: of many callbacks with one state exactly one exchanges the code.
 * @throws PlatformError or whatever else went wrong after the attempt was used up; ServiceError ACCOUNT_ALREADY_CONNECTED
 */
export async function finishConnect(deps: FinishConnectDeps, input: FinishConnect): Promise<FinishedConnect> {
  const { platform, redirectUri, query } = input
  const redirect = deps.platforms.redirect(platform)
  const attempt = redirect && (await takeAttempt(deps, redirect, input))
  if (!redirect || !attempt?.secrets || !(await isStillWanted(deps, attempt))) return { outcome: 'state_invalid' }
  if (query['error'] !== undefined) return { outcome: 'auth_failed' }
  const secrets = openAttemptSecrets(deps.cipher, connectAttemptContext(attempt), attempt.secrets)
  try {
    const signal = AbortSignal.timeout(COMPLETE_TIMEOUT_MS)
    const connection = await redirect.complete({ query, redirectUri, secrets }, { signal })
    await storeConnection(deps, attempt.userId, platform, connection)
    return { outcome: 'connected' }
  } catch (error) {
    if (isRefusal(error)) return { outcome: 'auth_failed', cause: error }
    throw error
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
