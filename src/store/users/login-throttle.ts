import { Schema, type Connection } from 'mongoose'
import { toNetwork } from '../../domain/shared/client-address.ts'
import {
  countAttempt,
  computeResetTime,
  refundAttempt,
  computeWait,
  type FailureLevel,
} from '../../domain/users/login-throttle.ts'
import { MINUTE } from '../../domain/shared/times.ts'
import { normalizeEmail } from '../../domain/users/user.ts'
import { isDuplicateKey } from '../mongo-errors.ts'
import { nativeCollection } from '../shared/native-collection.ts'
import { hashKey, toPersonKey, rateLimited, type RateLimits } from '../shared/rate-limits.ts'
import { required, schemaOptions } from '../shared/schema.ts'
import { createFairLimit } from '../../flow/fair-limit.ts'

const WINDOW_MS = 15 * MINUTE
/** Concurrent attempts on one account per process: as many as the password hasher checks concurrently. */
const ACCOUNT_WIDTH = 4
const MAX_CONFLICTS = 20

/** The limit that a failure reached. */
export type LoginLimit = 'device' | 'account-address' | 'address' | 'account'

export interface LoginAttempt {
  email: string
  ipAddress: string
  /** The id of a device that proved an earlier login to this account; null for a stranger. */
  device: string | null
  /** True when the account has a session from the same network. */
  isKnownNetwork: boolean
}

/** A failure count that resets some time after its first failure. */
interface Window {
  limit: LoginLimit
  open: ReturnType<RateLimits['limiter']>
  key: string
  points: number
}

interface StoredLevel extends FailureLevel {
  /** Hash of the mail address. */
  _id: string
  revision: number
  removeAt: Date
}

const levelSchema = new Schema<StoredLevel>(
  {
    _id: required(String),
    level: required(Number),
    at: required(Date),
    notBefore: required(Date),
    revision: required(Number),
    removeAt: required(Date),
  },
  schemaOptions,
)
levelSchema.index({ removeAt: 1 }, { expireAfterSeconds: 0 })

interface LoginLimits {
  /** Failures in 15 minutes, per account and network or known device. */
  perAccount: number
  /** Failures in 15 minutes, per network over all accounts. */
  perAddress: number
  /** Failures per account over all networks before each further attempt is delayed. */
  beforeDelay: number
}

interface LoginThrottleDeps {
  connection: Connection
  rateLimits: RateLimits
  now: () => Date
  /** Called when a failure reaches a limit or starts a delay, with the wait that follows. */
  onLimit: (attempt: LoginAttempt, limit: LoginLimit, waitMs: number) => void
}

/**
 * Limits password guessing. The counts are stored in MongoDB, because they hold across processes and restarts. A device that
 * logged in before has its own limit, so no stranger can lock it out. Strangers are limited per account and network and per
 * network, and slowed by growing delays per account over all networks. Successful logins do not count.
 */
export function createLoginThrottle(
  { connection, rateLimits: { limiter }, now, onLimit }: LoginThrottleDeps,
  limits: LoginLimits,
) {
  connection.model<StoredLevel>('LoginLevel', levelSchema, 'loginLevels')

  const levels = nativeCollection<StoredLevel>(connection, 'loginLevels')
  const byDevice = limiter({ name: 'login-device', points: limits.perAccount, windowMs: WINDOW_MS })
  const byAccount = limiter({ name: 'login-account', points: limits.perAccount, windowMs: WINDOW_MS })
  const byAddress = limiter({ name: 'login-address', points: limits.perAddress, windowMs: WINDOW_MS })
  const queueByClient = createFairLimit({ maxRunning: Infinity, perKey: 1 })
  const queueByAccount = createFairLimit({ maxRunning: Infinity, perKey: ACCOUNT_WIDTH })

  const toWindows = ({ email, ipAddress, device }: LoginAttempt): Window[] => {
    const network = toNetwork(ipAddress)
    const person = normalizeEmail(email)
    if (device !== null) {
      return [{ limit: 'device', open: byDevice, key: toPersonKey(person, device), points: limits.perAccount }]
    }
    return [
      { limit: 'account-address', open: byAccount, key: toPersonKey(person, network), points: limits.perAccount },
      { limit: 'address', open: byAddress, key: network, points: limits.perAddress },
    ]
  }

  /** Runs `check` while no window is full, and counts a null result in each. */
  async function withinWindows<T>(attempt: LoginAttempt, check: () => Promise<T | null>): Promise<T | null> {
    const windows = toWindows(attempt)
    const counts = await Promise.all(windows.map(({ open, key }) => open().get(key)))
    const waits = windows.map(({ points }, index) => {
      const count = counts[index]
      return count && count.consumedPoints >= points ? count.msBeforeNext : 0
    })
    if (Math.max(...waits) > 0) throw tooManyFailures(Math.max(...waits))
    const result = await check()
    if (result !== null) return result
    const counted = await Promise.all(windows.map(({ open, key }) => open().penalty(key)))
    windows.forEach(({ limit, points }, index) => {
      const { consumedPoints, msBeforeNext } = counted[index]!
      if (consumedPoints >= points) onLimit(attempt, limit, msBeforeNext)
    })
    return null
  }

  /**
   * Runs `check` when the account's delay is over. The attempt counts before `check` runs, so parallel ones cannot exceed the
   * limit.
   */
  async function withDelay<T>(attempt: LoginAttempt, check: () => Promise<T | null>): Promise<T | null> {
    const account = toAccountKey(attempt)
    const counted = await change(account, (level) => {
      const wait = computeWait(level, now())
      if (wait > 0) throw tooManyFailures(wait)
      return countAttempt(level, now(), limits.beforeDelay)
    })
    const refund = () => change(account, (level) => level && refundAttempt(level, now()))
    let result: T | null
    try {
      result = await check()
    } catch (error) {
      await refund()
      throw error
    }
    const wait = computeWait(counted, now())
    if (result !== null) await refund()
    else if (wait > 0) onLimit(attempt, 'account', wait)
    return result
  }

  /**
   * Applies a move to the stored level, conditional on its revision.
   * @returns the stored level; null from the move stores nothing
   */
  async function change(_id: string, move: (level: FailureLevel | null) => FailureLevel | null) {
    for (let conflicts = 0; conflicts < MAX_CONFLICTS; conflicts += 1) {
      const stored = await levels().findOne({ _id })
      const moved = move(stored)
      if (moved === null) return null
      const revision = (stored?.revision ?? 0) + 1
      const record = { ...moved, _id, revision, removeAt: computeResetTime(moved) }
      if (await (stored ? replace(record, stored.revision) : insert(record))) return moved
    }
    // So many concurrent writers on one account indicate an attack.
    throw tooManyFailures(0)
  }

  async function replace(record: StoredLevel, revision: number): Promise<boolean> {
    const { matchedCount } = await levels().replaceOne({ _id: record._id, revision }, record)
    return matchedCount === 1
  }

  async function insert(record: StoredLevel): Promise<boolean> {
    try {
      await levels().insertOne(record)
      return true
    } catch (error) {
      if (isDuplicateKey(error)) return false
      throw error
    }
  }

  return {
    /**
     * Runs `check`, and counts a failure when it resolves to null. Attempts from one network or known device run one after
     * another.
     * @throws ServiceError RATE_LIMITED before `check` runs
     */
    attempt<T>(attempt: LoginAttempt, check: () => Promise<T | null>): Promise<T | null> {
      const { ipAddress, device, isKnownNetwork } = attempt
      const isDelayed = device === null && !isKnownNetwork
      const delayed = () => queueByAccount(toAccountKey(attempt), () => withDelay(attempt, check))
      return queueByClient(device ?? toNetwork(ipAddress), () => withinWindows(attempt, isDelayed ? delayed : check))
    },

    async removeAllOf(email: string): Promise<void> {
      await levels().deleteOne({ _id: toAccountKey({ email }) })
    },
  }
}

function toAccountKey({ email }: Pick<LoginAttempt, 'email'>): string {
  return hashKey(normalizeEmail(email))
}

function tooManyFailures(waitMs: number) {
  return rateLimited((wait) => `Too many failed logins. Try again in ${wait}, or reset your password.`, 'login', waitMs)
}
