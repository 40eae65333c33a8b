import type { ConnectStates } from '../../security/connect-states.ts'
import {
  chooseOffered,
  type ConnectOutcome,
  type ConnectReason,
  type OfferedId,
} from '../../domain/accounts/platform-connect.ts'
import { toPlatformReason, type PlatformReason } from '../../domain/posts/platform-reason.ts'
import type { Platform } from '../../domain/shared/platforms.ts'
import { ServiceError } from '../../domain/shared/service-error.ts'
import { connectAttemptSecret } from '../../domain/shared/secrets.ts'
import { SECOND } from '../../domain/shared/times.ts'
import type { RedirectConnect } from '../../platforms/contract.ts'
import { PlatformError } from '../../platforms/errors.ts'
import type { AttemptName, ConnectAttempt } from '../../store/accounts/connect-attempts.ts'
import { openAttemptSecrets } from '../shared/attempt-secrets.ts'
import { hashSecret } from '../../security/random.ts'
import { saveOffer } from './offers.ts'
import { storeConnection } from './store-connection.ts'
import type { CommandContext } from '../context.ts'

interface FinishConnect {
  platform: Platform
  /** The callback's address, equal to the one at the start of the attempt. */
  redirectUri: string
  /** The query parameters from the platform, each once. */
  query: Record<string, string>
  /** The binding that the browser presents. */
  binding: string | undefined
  /** True when this caller may finish an attempt that was started without a browser binding. */
  mayBeUnbound: boolean
}

interface FinishedConnect {
  outcome: ConnectOutcome
  /** Null when the account was connected. */
  reason: ConnectReason | null
  /** The id of the offer, when the login offers several accounts. */
  offer?: string | null
  /** The error behind `reason`, where there is one. */
  cause?: unknown
  /** The OAuth error code and description of the refusal; null when the platform gave none. */
  platformReason?: PlatformReason | null
}

/** The result of a callback that belongs to no open attempt of this browser. The reason is for the log: users get no more than the outcome. */
export function refuseAttempt(
  why: string,
  { error, error_description: text }: Record<string, string> = {},
): FinishedConnect {
  const platformReason = toPlatformReason({ code: error, text })
  return { outcome: 'state_invalid', reason: 'ATTEMPT_INVALID', cause: new Error(why), platformReason }
}

const COMPLETE_TIMEOUT_MS = 10 * SECOND

/**
 * Finishes what `beginConnect` started. The platform is called only for an attempt that is ours, open, in the right browser,
 * and consumed by this call. Of several callbacks with one state, exactly one exchanges the code.
 * @throws errors of the database before the attempt was used up
 */
export async function finishConnect(deps: CommandContext, input: FinishConnect): Promise<FinishedConnect> {
  const { platform, redirectUri, query } = input
  const redirect = deps.platforms.redirect(platform)
  if (!redirect) return refuseAttempt('The platform is not set up', query)
  const attempt = await takeAttempt(deps, redirect, input)
  if (typeof attempt === 'string') return refuseAttempt(attempt, query)
  if (!(await isSessionActive(deps, attempt))) return refuseAttempt('The session of the attempt has ended', query)
  if (query['error'] !== undefined) return toRefusedConnect(query)
  const secrets = openAttemptSecrets(deps.cipher, connectAttemptSecret(attempt), attempt.secrets)
  let offer: string | null = null
  try {
    const signal = AbortSignal.timeout(COMPLETE_TIMEOUT_MS)
    const choose = await prepareChoice(deps, attempt)
    const { offered = [], ...connection } = await redirect.complete({ query, redirectUri, secrets, choose }, { signal })
    offer = await saveOffer(deps, attempt, offered)
    await storeConnection(deps, { userId: attempt.userId, replace: !attempt.adds }, platform, connection)
    return { outcome: 'connected', reason: null, offer }
  } catch (cause) {
    const outcome = isRefusal(cause) ? 'auth_failed' : 'connect_failed'
    const refusal = cause instanceof PlatformError ? cause.platformReason : null
    return { outcome, reason: toConnectReason(cause), cause, platformReason: refusal, offer }
  }
}

/** Returns the function that chooses one of the accounts that the login offers. */
async function prepareChoice({ accounts }: CommandContext, { userId, platform, adds = false }: ConnectAttempt) {
  const connected = (await accounts.listConnected(userId))
    .filter((one) => one.platform === platform)
    .toSorted((one, other) => Number(other.isDefault) - Number(one.isDefault))
    .map(({ platformId }) => platformId)
  return (offered: readonly OfferedId[]) => chooseOffered(offered, connected, { adds })
}

/** Returns the reason, when there is none that is open. */
async function takeAttempt(
  { connectAttempts, connectStates, clock }: CommandContext,
  { lookupParameter }: RedirectConnect,
  input: FinishConnect,
): Promise<(ConnectAttempt & { secrets: string }) | string> {
  const now = clock.now()
  const name = nameAttempt(connectStates, lookupParameter, input, now)
  const bindingHashes = [
    ...(input.binding === undefined ? [] : [hashSecret(input.binding)]),
    ...(input.mayBeUnbound ? [null] : []),
  ]
  if (typeof name === 'string') return name
  if (bindingHashes.length === 0) return 'The browser sent no cookie of an attempt'
  const attempt = await connectAttempts.consume(name, bindingHashes, now)
  return attempt?.secrets
    ? { ...attempt, secrets: attempt.secrets }
    : 'No attempt of this browser is open under this name'
}

/**
 * Names the attempt by its state. For a platform without states it uses the token that the platform issued; a state that is
 * returned anyway must match. Returns the reason, when the callback names none.
 */
function nameAttempt(
  connectStates: ConnectStates,
  lookupParameter: string | undefined,
  { platform, redirectUri, query }: FinishConnect,
  now: Date,
): AttemptName | string {
  const lookup = lookupParameter === undefined ? undefined : query[lookupParameter]
  if (lookupParameter !== undefined && lookup === undefined) return `The callback has no ${lookupParameter}`
  const state = query['state']
  if (state === undefined) {
    return lookup === undefined ? 'The callback has no state' : { platform, lookupHash: hashSecret(lookup) }
  }
  const contents = connectStates.read(state, { platform, redirectUri }, now)
  if (!contents) return 'The state is not valid, or has expired'
  const byState = { platform, _id: hashSecret(contents.nonce), userId: contents.userId }
  return lookup === undefined ? byState : { ...byState, lookupHash: hashSecret(lookup) }
}

/**
 * Returns whether the session that started the attempt still exists. Logging out or disabling the account ends the attempt,
 * too.
 */
async function isSessionActive(
  { users, sessions, clock }: CommandContext,
  { userId, sessionId }: ConnectAttempt,
): Promise<boolean> {
  const [user, session] = await Promise.all([users.findById(userId), sessions.find(sessionId)])
  return user?.isDisabled === false && session?.userId === userId && session.expiresAt > clock.now()
}

/** Returns whether the platform or the user refused. A retry may succeed after any other error. */
function isRefusal(error: unknown): error is PlatformError {
  if (!(error instanceof PlatformError)) return false
  return ['unauthorized', 'permission', 'validation', 'blocked_by_platform'].includes(error.class)
}

function toConnectReason(error: unknown): ConnectReason {
  if (error instanceof PlatformError) return error.connectReason
  if (!(error instanceof ServiceError)) return 'INTERNAL'
  return error.code === 'ACCOUNT_ALREADY_CONNECTED' || error.code === 'ACCOUNT_LIMIT_REACHED' ? error.code : 'INTERNAL'
}

/** A callback with an error carries no login, whatever else it contains (RFC 6749 section 4.1.2.1). */
function toRefusedConnect({ error, error_description: text }: Record<string, string>): FinishedConnect {
  return {
    outcome: 'auth_failed',
    reason: error === 'access_denied' ? 'DENIED' : 'LOGIN_REFUSED',
    cause: new Error('The platform sent an error instead of a login'),
    platformReason: toPlatformReason({ code: error, text }),
  }
}
