import { randomUUID } from 'node:crypto'
import type { Clock } from '../../clock.ts'
import { connectionExpired } from '../../domain/notifications/notifications.ts'
import { platformLabel, type Platform } from '../../domain/shared/platforms.ts'
import { SecretUnreadableError } from '../../domain/shared/secrets.ts'
import { MINUTE, SECOND } from '../../domain/shared/times.ts'
import type { TokenCipher } from '../../security/token-cipher.ts'
import type { CallOptions, Credentials, PlatformAdapter } from '../../platforms/contract.ts'
import { PlatformError } from '../../platforms/errors.ts'
import { isDuplicateKey, type Database } from '../../store/shared/database.ts'
import type { NotificationStore } from '../../store/notifications/notifications.ts'
import type { ConnectedAccount, PlatformAccountStore } from '../../store/accounts/platform-accounts.ts'
import { endSession, openSecrets, sealSecrets } from './account-secrets.ts'

interface Dependencies {
  accounts: PlatformAccountStore
  cipher: TokenCipher
  adapters: { find(platform: Platform): PlatformAdapter | null }
  notifications: Pick<NotificationStore, 'recordsOf' | 'insert' | 'stored'>
  database: Pick<Database, 'transaction'>
  clock: Clock
  /** Deadline of one renewal call. */
  renewalTimeoutMs?: number
}

interface GetOptions extends CallOptions {
  /** Tokens with less life left are renewed first. */
  minLifeMs?: number
}

type Secrets = Omit<Credentials, 'version'>

/** How much longer a lease runs than the call it covers: time to save the answer. */
const LEASE_MARGIN_MS = 5 * SECOND
/** After a renewal that could not be made, those who come at the same time do not try it one by one. */
const SHORTEST_PAUSE_MS = SECOND / 2
const LONGEST_PAUSE_MS = 15 * MINUTE
/** A token with this much life left still serves when it cannot be renewed now. */
const USABLE_LIFE_MS = MINUTE
const FIRST_POLL_MS = 50
const LONGEST_POLL_MS = SECOND

/**
 * The credentials of connected accounts, in plain, and their renewal: single flight per account across processes (safety.md section 4).
 *
 * Of all that find the tokens of one version refused or near their end, one takes the lease in the account document and calls the
 * platform; the others wait and read again. Whatever is saved is conditional on that version, so that an answer that comes after
 * the user reconnected or disconnected changes nothing. When the answer of a renewal is lost the old token stays, and the next
 * attempt repeats with it.
 */
export function createAccountCredentials(deps: Dependencies) {
  const { accounts, cipher, adapters, notifications, database, clock, renewalTimeoutMs = 15 * SECOND } = deps
  const flights = new Map<string, Promise<Credentials>>()

  /**
   * @returns null when the platform is not connected
   * @throws PlatformError `unauthorized` when the user has to connect again; `transient` or `rate_limited`, always certain, when
   *   the tokens are at their end and cannot be renewed now
   */
  async function get(userId: string, platform: Platform, options: GetOptions): Promise<Credentials | null> {
    options.signal.throwIfAborted()
    const account = await accounts.findConnected(userId, platform)
    if (!account) return null
    const current = await openAccount(userId, platform, account)
    const lifeMs = current.expiresAt ? current.expiresAt.getTime() - clock.now().getTime() : Infinity
    if (lifeMs >= (options.minLifeMs ?? 10 * MINUTE) || !adapters.find(platform)?.renew) return current
    try {
      return await renew(userId, platform, current, options)
    } catch (error) {
      if (lifeMs >= USABLE_LIFE_MS && isPassing(error)) return current
      throw error
    }
  }

  /**
   * New credentials in the place of refused ones; the stored ones when those are newer already.
   * They may be another account's when the user connected anew meanwhile: compare `accountId`.
   * @throws PlatformError as `get` does, `unauthorized` also when the platform is not connected any more
   */
  async function renew(
    userId: string,
    platform: Platform,
    refused: Credentials,
    { signal }: CallOptions,
  ): Promise<Credentials> {
    const name = `${userId}/${platform}/${refused.version}`
    let flight = flights.get(name)
    if (!flight) {
      flight = renewOnce(userId, platform, refused.version).finally(() => flights.delete(name))
      flights.set(name, flight)
    }
    return await orAborted(flight, signal)
  }

  /**
   * Marks the connection expired, unless it got other credentials than `used` meanwhile, and tells the user once.
   * @returns whether this call changed it
   */
  const markExpired = (userId: string, platform: Platform, used: Credentials, reason: string): Promise<boolean> =>
    expire(userId, platform, used.version, reason)

  async function expire(userId: string, platform: Platform, version: number, reason: string): Promise<boolean> {
    const told = await notifications.recordsOf([connectionExpired(userId, platform, version)])
    try {
      const changed = await database.transaction(async (session) => {
        if (!(await accounts.markBroken(userId, platform, version, 'expired', reason, session))) return false
        await notifications.insert(told, session)
        return true
      })
      if (changed) notifications.stored(told)
      return changed
    } catch (error) {
      if (!isDuplicateKey(error)) throw error
      // The user was told of these very credentials before.
      return accounts.markBroken(userId, platform, version, 'expired', reason)
    }
  }

  /** Runs on its own deadline, not on a caller's: once the platform was asked, its answer has to be saved. */
  async function renewOnce(userId: string, platform: Platform, version: number): Promise<Credentials> {
    const account = await accounts.findConnected(userId, platform)
    if (!account || account.version !== version) return await readAgain(userId, platform, account)
    const current = await openAccount(userId, platform, account)
    const adapter = adapters.find(platform)
    if (!adapter?.renew) {
      const reason = `${platformLabel(platform)} asks for a new login`
      // Refused, and nothing but a new login can change that.
      if (adapter) await expire(userId, platform, version, reason)
      throw mustReconnect(reason)
    }

    const holder = randomUUID()
    const until = after(renewalTimeoutMs + LEASE_MARGIN_MS)
    // guard: renewal lease
    if (!(await accounts.takeLease(userId, platform, version, holder, until))) {
      return await awaitOther(userId, platform, version)
    }
    try {
      const renewed = await withinDeadline(until.getTime() - LEASE_MARGIN_MS - clock.now().getTime(), (signal) =>
        adapter.renew!(current, { signal }),
      )
      return await saveRenewed(userId, platform, version, renewed)
    } catch (error) {
      await recordFailure(userId, platform, version, holder, error)
      throw error
    }
  }

  /** Only a refusal changes health (contract section 5); anything else gives the lease back. */
  async function recordFailure(userId: string, platform: Platform, version: number, holder: string, error: unknown) {
    if (error instanceof PlatformError && error.class === 'unauthorized') {
      await expire(userId, platform, version, error.message)
      return
    }
    const statedMs = error instanceof PlatformError ? (error.retryAfterMs ?? 0) : 0
    const pauseMs = Math.min(Math.max(statedMs, SHORTEST_PAUSE_MS), LONGEST_PAUSE_MS)
    await accounts.pauseLease(userId, platform, version, holder, after(pauseMs))
  }

  async function saveRenewed(
    userId: string,
    platform: Platform,
    version: number,
    renewed: Secrets,
  ): Promise<Credentials> {
    const auth = sealSecrets(cipher, { userId, platform, version: version + 1 }, renewed)
    const { handle, serviceUrl = null } = renewed
    if (await accounts.saveRenewed(userId, platform, version, { handle, serviceUrl, auth })) {
      return { ...renewed, version: version + 1 }
    }
    const account = await accounts.findConnected(userId, platform)
    if (!account) await endSession(adapters.find(platform), { ...renewed, version: version + 1 })
    return await readAgain(userId, platform, account)
  }

  /** Waits for what the holder of the lease comes to. Never renews: the attempt that finds no result fails, and may be repeated. */
  async function awaitOther(userId: string, platform: Platform, version: number): Promise<Credentials> {
    for (let pollMs = FIRST_POLL_MS; ; pollMs = Math.min(pollMs * 2, LONGEST_POLL_MS)) {
      const account = await accounts.findConnected(userId, platform)
      if (!account || account.version !== version || account.health.status === 'expired') {
        return await readAgain(userId, platform, account)
      }
      const lease = account.refreshLease
      const leftMs = lease ? lease.until.getTime() - clock.now().getTime() : 0
      if (!lease?.holder || leftMs <= 0) throw notNow(platform, Math.max(leftMs, 0))
      await clock.sleepUntil(after(Math.min(pollMs, leftMs)))
    }
  }

  async function readAgain(userId: string, platform: Platform, account: ConnectedAccount | null): Promise<Credentials> {
    if (!account) throw mustReconnect(`${platformLabel(platform)} is not connected any more`)
    return await openAccount(userId, platform, account)
  }

  async function openAccount(userId: string, platform: Platform, account: ConnectedAccount): Promise<Credentials> {
    const { status, lastError } = account.health
    if (status === 'expired') throw mustReconnect(lastError ?? `The ${platformLabel(platform)} connection has expired`)
    try {
      return openSecrets(cipher, userId, platform, account)
    } catch (error) {
      if (!(error instanceof SecretUnreadableError)) throw error
      const reason = `The stored ${platformLabel(platform)} login can no longer be read`
      await expire(userId, platform, account.version, reason)
      throw mustReconnect(reason, error)
    }
  }

  const after = (ms: number) => new Date(clock.now().getTime() + ms)

  return { get, renew, markExpired }
}

export type AccountCredentials = ReturnType<typeof createAccountCredentials>

/** No visible call was made yet when a renewal fails, so every failure of it is certain. */
async function withinDeadline(timeoutMs: number, call: (signal: AbortSignal) => Promise<Secrets>): Promise<Secrets> {
  const signal = AbortSignal.timeout(Math.max(timeoutMs, 0))
  try {
    return await orAborted(call(signal), signal)
  } catch (error) {
    if (error instanceof PlatformError) {
      const { retryAfterMs } = error
      throw new PlatformError(error.class, error.message, {
        certain: true,
        cause: error,
        ...(retryAfterMs !== undefined && { retryAfterMs }),
      })
    }
    if (!signal.aborted) throw error
    throw new PlatformError('transient', 'The platform did not answer in time', { certain: true, cause: error })
  }
}

/** The promise's outcome, or the signal's reason when that aborts first; the promise goes on. */
async function orAborted<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  const aborted = Promise.withResolvers<never>()
  const abort = () => aborted.reject(signal.reason)
  if (signal.aborted) abort()
  signal.addEventListener('abort', abort, { once: true })
  try {
    return await Promise.race([promise, aborted.promise])
  } finally {
    signal.removeEventListener('abort', abort)
  }
}

function isPassing(error: unknown): boolean {
  return error instanceof PlatformError && (error.class === 'transient' || error.class === 'rate_limited')
}

function mustReconnect(message: string, cause?: unknown): PlatformError {
  return new PlatformError('unauthorized', message, { certain: true, cause })
}

function notNow(platform: Platform, retryAfterMs: number): PlatformError {
  return new PlatformError('transient', `The ${platformLabel(platform)} connection could not be renewed now`, {
    certain: true,
    retryAfterMs,
  })
}
