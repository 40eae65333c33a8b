import { onTestFinished } from 'vitest'
import type { Parts } from '../../../src/commands/parts.ts'
import { systemClock, type Clock } from '../../../src/clock.ts'
import { createAccountCredentials } from '../../../src/commands/accounts/account-credentials.ts'
import { sealSecrets } from '../../../src/commands/accounts/account-secrets.ts'
import type { Platform } from '../../../src/domain/shared/platforms.ts'
import { createTokenCipher } from '../../../src/security/token-cipher.ts'
import type { CallOptions, Credentials, PlatformAdapter } from '../../../src/platforms/contract.ts'
import { PlatformError } from '../../../src/platforms/errors.ts'
import { openDatabase } from '../../../src/store/shared/database.ts'
import { DAY } from '../../../src/domain/shared/times.ts'
import { createEventStore } from '../../../src/store/events/events.ts'
import { createNotificationStore } from '../../../src/store/notifications/notifications.ts'
import { createAccountStore, type ConnectedAccount, type Seal } from '../../../src/store/accounts/accounts.ts'
import { newId } from '../../../src/store/shared/schema.ts'
import { disconnectDefault } from '../../support/published.ts'
import { testConfig } from '../../support/servers.ts'
import { partial } from '../../support/partial.ts'

const config = testConfig()
export const cipher = createTokenCipher(config.TOKEN_ENCRYPTION_KEYS)

/** The system clock, which a test can move forward. */
export function shiftableClock() {
  let shiftMs = 0
  const clock: Clock = {
    now: () => new Date(Date.now() + shiftMs),
    sleepUntil: (instant, signal) => systemClock.sleepUntil(new Date(instant.getTime() - shiftMs), signal),
  }
  return { ...clock, forward: (ms: number) => void (shiftMs += ms) }
}

/** The parts of one service process: a connection, stores and its own renewals. */
export async function startProcess(
  adapter: PlatformAdapter,
  options: { clock?: Clock; cipher?: typeof cipher; renewalTimeoutMs?: number } = {},
) {
  const clock = options.clock ?? systemClock
  const database = await openDatabase(config.MONGODB_URL)
  onTestFinished(() => database.close())
  const events = createEventStore(database.connection, clock.now, { retentionMs: 90 * DAY })
  const accounts = createAccountStore({ database, now: clock.now, events })
  const notifications = createNotificationStore(database.connection, clock.now)
  await database.createSchema()
  const credentials = createAccountCredentials(
    partial<Parts>({
      accounts,
      events,
      notifications,
      database,
      clock,
      cipher: options.cipher ?? cipher,
      platforms: partial({ find: (platform) => (platform === adapter.platform ? adapter : null) }),
    }),
    options.renewalTimeoutMs,
  )

  /** Connects the first account, and the others as its companions. */
  function connectTogether(userId: string, secrets: Partial<Record<Platform, Secrets | null>>, replace = true) {
    const toSeal =
      (platform: Platform, own: Secrets): Seal =>
      (version) => ({
        platformId: own.accountId,
        handle: own.handle,
        server: own.serviceUrl ?? null,
        profile: { displayName: 'Alice', handle: own.handle, avatar: null },
        auth: sealSecrets(cipher, { userId, platform, version }, own),
      })
    const [[platform, own], ...others] = Object.entries(secrets) as [
      [Platform, Secrets],
      ...[Platform, Secrets | null][],
    ]
    const companions = Object.fromEntries(others.map(([one, its]) => [one, its && toSeal(one, its)]))
    return accounts.connect(userId, { platform, seal: toSeal(platform, own), companions }, { replace, limit: 10 })
  }

  return {
    accounts,
    database,
    events,
    notifications,
    credentials,
    /** The stored records as they are in the database, in the order of their versions. */
    raw: (userId: string) => database.connection.collection('accounts').find({ userId }).sort({ version: 1 }).toArray(),

    /** Accounts of other tests, for functions that read all accounts. */
    forgetAll: () => database.connection.collection('accounts').deleteMany({}),

    async connect(userId: string, secrets: Secrets): Promise<ConnectedAccount> {
      const { accounts: stored } = await connectTogether(userId, { bluesky: secrets })
      return stored[0]!
    },
    connectTogether,

    /** Disconnects the default Bluesky account. */
    disconnect: async (userId: string) => disconnectDefault(accounts, userId, 'bluesky'),
  }
}

export type Secrets = Omit<Credentials, 'version'>

/**
 * A platform that rotates its refresh tokens and accepts each only once. It counts renewals and answers them as `answer` says,
 * by default immediately.
 */
export function rotatingPlatform() {
  const calls: string[] = []
  const revoked: string[] = []
  let current = { accountId: '', session: '', generation: 0 }
  let answer: (rotate: () => Secrets, options: CallOptions) => Secrets | Promise<Secrets> = (rotate) => rotate()

  const secrets = (): Secrets => ({
    accountId: current.accountId,
    handle: 'alice.test',
    serviceUrl: 'https://pds.test',
    accessToken: `access-${current.session}-${current.generation}`,
    refreshToken: `refresh-${current.session}-${current.generation}`,
    expiresAt: new Date(Date.now() + 2 * 3_600_000),
  })

  const adapter: PlatformAdapter = {
    platform: 'bluesky',
    prepare: unused,
    publish: unused,
    reconcile: unused,
    profile: unused,
    async renew(account, options) {
      calls.push(account.refreshToken ?? '')
      return await answer(() => {
        if (account.refreshToken !== secrets().refreshToken) {
          throw new PlatformError('unauthorized', 'Bluesky asks for a new login', { certain: true })
        }
        current = { ...current, generation: current.generation + 1 }
        return secrets()
      }, options)
    },
    async revoke(account) {
      revoked.push(account.accessToken)
    },
  }

  return {
    adapter,
    /** Refresh tokens of the renewal calls, in order. */
    calls,
    /** Access tokens of the ended sessions. */
    revoked,
    /** Creates a session, by default of a new account. */
    login(accountId = `did:plc:${newId()}`, life: Partial<Pick<Secrets, 'expiresAt' | 'endsAt'>> = {}): Secrets {
      current = { accountId, session: newId(), generation: 0 }
      return { ...secrets(), ...life }
    },
    /** Sets the response to further renewals. */
    answerBy(next: typeof answer) {
      answer = next
    },
  }
}

function unused(): never {
  throw new Error('Not part of this test')
}

/** A gate that a test waits for and opens. */
export function gate() {
  const opened = Promise.withResolvers<void>()
  return { opened: opened.promise, open: () => opened.resolve() }
}
