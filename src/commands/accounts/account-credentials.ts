import { randomUUID } from 'node:crypto'
import { raceAbort } from '../../flow/deadlines.ts'
import { nameAmongSeveral } from '../../domain/accounts/selection.ts'
import { accountExpired } from '../../domain/events/account-events.ts'
import { connectionExpired } from '../../domain/notifications/notifications.ts'
import { explainFailure } from '../../domain/posts/failure.ts'
import { platformLabel, type Platform } from '../../domain/shared/platforms.ts'
import { SecretUnreadableError } from '../../domain/shared/secrets.ts'
import { MINUTE, SECOND } from '../../domain/shared/times.ts'
import type { CallOptions, Credentials } from '../../platforms/contract.ts'
import { CredentialsUnreadable, PlatformError } from '../../platforms/errors.ts'
import { isDuplicateKey } from '../../store/mongo-errors.ts'
import type { AccountVersion } from '../../store/accounts/account-records.ts'
import { findDefault, type ConnectedAccount } from '../../store/accounts/accounts.ts'
import { endSession, openSecrets, sealSecrets } from './account-secrets.ts'
import type { Parts } from '../parts.ts'

/** Chooses one of the user's accounts on the platform; null when it is not connected. */
export type ChooseAccount = (accounts: readonly ConnectedAccount[], platform: Platform) => ConnectedAccount | null

export function chooseById(id: string): ChooseAccount {
  return (accounts) => accounts.find(({ _id }) => _id === id) ?? null
}

/** Chooses the account with this id, or without one the default account. */
export function chooseByIdOrDefault(id: string | null | undefined): ChooseAccount {
  return typeof id === 'string' ? chooseById(id) : findDefault
}

export function chooseByPlatformId(platformId: string | null): ChooseAccount {
  return (accounts, platform) =>
    accounts.find((one) => one.platform === platform && one.platformId === platformId) ?? null
}

interface AccountOptions extends CallOptions {
  /** By default, the default account. */
  choose?: ChooseAccount | undefined
}

interface RenewOptions extends AccountOptions {
  /** The platform's refusal of the present credentials, which is the reason where they cannot be renewed. */
  refusal?: PlatformError
}

interface GetOptions extends AccountOptions {
  /** Tokens with a shorter remaining life are renewed first. */
  minLifeMs?: number
}

type Secrets = Omit<Credentials, 'version'>
/** Why the platform refused a call, in its words, too. */
type Refusal = Pick<PlatformError, 'message' | 'platformReason'>

/** The time that a lease runs longer than its call, so that the result can be saved. */
const LEASE_MARGIN_MS = 5 * SECOND
/** How long no caller tries again after a failed renewal. */
const SHORTEST_PAUSE_MS = SECOND / 2
const LONGEST_PAUSE_MS = 15 * MINUTE
/** A token with this remaining life is still used when it cannot be renewed now. */
const USABLE_LIFE_MS = MINUTE
const FIRST_POLL_MS = 50
const LONGEST_POLL_MS = SECOND

/**
 * Opens and renews the credentials of connected accounts, with one renewal at a time per account across all processes.
 *
 * When several callers find the tokens of one version refused or near their end, one takes the lease in the account document
 * and calls the platform. The others poll and read again. Every write is conditional on that version, so an answer that arrives
 * after the user reconnected or disconnected changes nothing. When the answer of a renewal is lost, the old token stays stored
 * and the next attempt uses it again.
 * @param renewalTimeoutMs deadline of one renewal call
 */
export function createAccountCredentials(parts: Parts, renewalTimeoutMs = 15 * SECOND) {
  const { accounts, cipher, platforms, events, notifications, database, clock } = parts
  const flights = new Map<string, Promise<Credentials>>()

  /**
   * @returns null when the platform is not connected
   * @throws PlatformError `unauthorized` when the user has to connect again; `transient` or `rate_limited`, always certain,
   * when the tokens have expired and cannot be renewed now
   */
  async function get(userId: string, platform: Platform, options: GetOptions): Promise<Credentials | null> {
    options.signal.throwIfAborted()
    const account = await find(userId, platform, options.choose)
    if (!account) return null
    const current = await openAccount(account)
    const lifeMs = current.expiresAt ? current.expiresAt.getTime() - clock.now().getTime() : Infinity
    if (lifeMs >= (options.minLifeMs ?? 10 * MINUTE) || !platforms.find(platform)?.renew) return current
    try {
      return await renew(userId, platform, current, options)
    } catch (error) {
      if (lifeMs >= USABLE_LIFE_MS && isTemporary(error)) return current
      throw error
    }
  }

  /**
   * Replaces refused credentials by renewed ones, or by the stored ones when those are newer. They may belong to another
   * account when the user reconnected meanwhile: compare `accountId`.
   * @throws PlatformError as `get` does; `unauthorized` also when the platform is no longer connected
   */
  async function renew(
    userId: string,
    platform: Platform,
    refused: Credentials,
    { signal, choose, refusal }: RenewOptions,
  ): Promise<Credentials> {
    const name = `${userId}/${platform}/${refused.version}`
    let flight = flights.get(name)
    if (!flight) {
      flight = renewOnce({ userId, platform, version: refused.version }, choose, refusal).finally(() =>
        flights.delete(name),
      )
      flights.set(name, flight)
    }
    return await raceAbort(flight, signal)
  }

  /**
   * Marks the connection expired and notifies the user once, unless its credentials changed since `used` or are being renewed: the
   * process that renews them finds out whether the platform accepts the new ones.
   * @returns whether this call changed it
   */
  const markExpired = (userId: string, platform: Platform, used: Credentials, refusal: Refusal): Promise<boolean> =>
    expire(userId, platform, used.version, explainFailure(refusal, platform), { isLeaseRespected: true })

  /** Marks the connection broken: the platform refuses calls until the user connects the account again. */
  async function markRefused(userId: string, platform: Platform, used: Credentials, refusal: Refusal): Promise<void> {
    const change = { status: 'error', reason: explainFailure(refusal, platform) } as const
    await accounts.markBroken({ userId, platform, version: used.version }, change)
  }

  async function expire(
    userId: string,
    platform: Platform,
    version: number,
    reason: string,
    { isLeaseRespected = false } = {},
  ): Promise<boolean> {
    const change = { status: 'expired', reason, isLeaseRespected } as const
    const connected = await accounts.listConnected(userId)
    const accountName = nameAmongSeveral(connected, { platform, version })
    const records = await notifications.toRecords([connectionExpired({ userId, platform, version, accountName })])
    const account = connected.find((one) => one.platform === platform && one.version === version)
    const store = async (stored: typeof records): Promise<boolean> => {
      const changed = await database.transaction(async (session) => {
        if (!(await accounts.markBroken({ userId, platform, version }, change, session))) return false
        await notifications.insert(stored, session)
        if (account) await events.append(userId, [accountExpired(account, clock.now())], session)
        return true
      }, userId)
      if (!changed) return false
      notifications.beginSending(stored)
      events.announce([userId])
      return true
    }
    try {
      return await store(records)
    } catch (error) {
      if (!isDuplicateKey(error)) throw error
      // A notification for these credentials is already stored.
      return store([])
    }
  }

  async function find(
    userId: string,
    platform: Platform,
    choose: ChooseAccount = findDefault,
  ): Promise<ConnectedAccount | null> {
    return choose(await accounts.listConnected(userId), platform)
  }

  /** Runs on its own deadline, not on a caller's: once the platform was called, its answer has to be saved. */
  async function renewOnce(
    refused: AccountVersion,
    choose: ChooseAccount | undefined,
    refusal = reconnectRequired(`${platformLabel(refused.platform)} requires a new login`),
  ): Promise<Credentials> {
    const { userId, platform, version } = refused
    const account = await find(userId, platform, choose)
    if (!account || account.version !== version) return await openCurrent(platform, account)
    const current = await openAccount(account)
    const adapter = platforms.find(platform)
    if (!adapter?.renew) {
      // The tokens were refused and only a new login can replace them.
      if (adapter) await expire(userId, platform, version, explainFailure(refusal, platform))
      throw refusal
    }

    const holder = randomUUID()
    const until = fromNow(renewalTimeoutMs + LEASE_MARGIN_MS)
    // guard: renewal lease
    if (!(await accounts.takeLease(refused, holder, until))) return await waitForOtherRenewal(refused, choose)
    try {
      const renewed = await renewWithDeadline(until.getTime() - LEASE_MARGIN_MS - clock.now().getTime(), (signal) =>
        adapter.renew!(current, { signal }),
      )
      return await saveRenewed(refused, renewed, choose)
    } catch (error) {
      await recordFailure(refused, holder, error)
      throw error
    }
  }

  /** Only a refusal changes the account's health. Any other failure releases the lease. */
  async function recordFailure(account: AccountVersion, holder: string, error: unknown): Promise<void> {
    if (error instanceof PlatformError && error.class === 'unauthorized') {
      await expire(account.userId, account.platform, account.version, explainFailure(error, account.platform))
      return
    }
    const statedMs = error instanceof PlatformError ? (error.retryAfterMs ?? 0) : 0
    const pauseMs = Math.min(Math.max(statedMs, SHORTEST_PAUSE_MS), LONGEST_PAUSE_MS)
    await accounts.pauseRenewal(account, holder, fromNow(pauseMs))
  }

  async function saveRenewed(
    before: AccountVersion,
    renewed: Secrets,
    choose: ChooseAccount | undefined,
  ): Promise<Credentials> {
    const { userId, platform } = before
    const { handle, serviceUrl: server = null } = renewed
    const version = await accounts.nextVersion(userId, platform)
    const auth = sealSecrets(cipher, { userId, platform, version }, renewed)
    try {
      if (await accounts.saveRenewed(before, { handle, server, auth }, version)) return { ...renewed, userId, version }
    } catch (error) {
      if (!isDuplicateKey(error)) throw error
      // Another account of the platform has got this version meanwhile.
      return await saveRenewed(before, renewed, choose)
    }
    const account = await find(userId, platform, choose)
    if (!account) await endSession(platforms.find(platform), { ...renewed, version })
    return await openCurrent(platform, account)
  }

  /** Waits until the lease holder has finished. Never renews: a caller that finds no result fails and may retry. */
  async function waitForOtherRenewal(
    { userId, platform, version }: AccountVersion,
    choose: ChooseAccount | undefined,
  ): Promise<Credentials> {
    for (let pollMs = FIRST_POLL_MS; ; pollMs = Math.min(pollMs * 2, LONGEST_POLL_MS)) {
      const account = await find(userId, platform, choose)
      if (!account || account.version !== version || account.health.status === 'expired') {
        return await openCurrent(platform, account)
      }
      const lease = account.refreshLease
      const leftMs = lease ? lease.until.getTime() - clock.now().getTime() : 0
      if (!lease?.holder || leftMs <= 0) throw renewalUnavailable(platform, Math.max(leftMs, 0))
      await clock.sleepUntil(fromNow(Math.min(pollMs, leftMs)))
    }
  }

  async function openCurrent(platform: Platform, account: ConnectedAccount | null): Promise<Credentials> {
    if (!account) throw reconnectRequired(`${platformLabel(platform)} is no longer connected`)
    return await openAccount(account)
  }

  async function openAccount(account: ConnectedAccount): Promise<Credentials> {
    const { platform } = account
    const { status, lastError } = account.health
    if (status === 'expired')
      throw reconnectRequired(lastError ?? `The ${platformLabel(platform)} connection has expired`)
    try {
      return openSecrets(cipher, account)
    } catch (error) {
      if (!(error instanceof SecretUnreadableError)) throw error
      // The tokens may be intact: nothing is marked, so that the account works again once the key is back.
      throw new CredentialsUnreadable(
        `This service cannot read the stored ${platformLabel(platform)} login for now. Its operator has to restore an encryption key.`,
        error,
      )
    }
  }

  const fromNow = (ms: number) => new Date(clock.now().getTime() + ms)

  return { get, renew, markExpired, markRefused }
}

export type AccountCredentials = ReturnType<typeof createAccountCredentials>

/** Runs a renewal with a deadline. Every failure is marked certain, because a renewal makes nothing visible. */
async function renewWithDeadline(timeoutMs: number, call: (signal: AbortSignal) => Promise<Secrets>): Promise<Secrets> {
  const signal = AbortSignal.timeout(Math.max(timeoutMs, 0))
  try {
    return await raceAbort(call(signal), signal)
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

function isTemporary(error: unknown): boolean {
  return error instanceof PlatformError && (error.class === 'transient' || error.class === 'rate_limited')
}

function reconnectRequired(message: string, cause?: unknown): PlatformError {
  return new PlatformError('unauthorized', message, { certain: true, cause })
}

function renewalUnavailable(platform: Platform, retryAfterMs: number): PlatformError {
  return new PlatformError('transient', `The ${platformLabel(platform)} connection could not be renewed now`, {
    certain: true,
    retryAfterMs,
  })
}
