import type { StoredHealth } from '../../domain/accounts/account-health.ts'
import type { Platform } from '../../domain/shared/platforms.ts'

export interface AccountProfile {
  displayName: string
  handle: string
  avatar: string | null
  description?: string
}

/** The secrets of one connection, sealed for the account's `version`. */
export interface SealedAuth {
  accessToken: string
  /** Absent on platforms without one. */
  tokenSecret?: string
  refreshToken: string | null
  /** When the access token expires. */
  expiresAt: Date | null
  /** When the connection expires unless it is renewed. */
  endsAt: Date | null
}

/**
 * The lease of the process that renews the tokens of `version`. Without a holder it is a pause after a failed renewal: no
 * process tries before `until`.
 */
export interface RefreshLease {
  version: number
  holder: string | null
  until: Date
}

interface AccountBase {
  /** `toAccountId` of the fields that identify the account. */
  _id: string
  userId: string
  platform: Platform
  /** Changes with the secrets, and never repeats among the accounts of a user on a platform. */
  version: number
  /** Whether this account is meant where only the platform is named. A platform with accounts has exactly one. */
  isDefault: boolean
  /** The user's own name for the account. */
  label?: string
  /** The latest times at which the account was disconnected or replaced; absent before the first. */
  endings?: Date[]
}

export interface ConnectedAccount extends AccountBase {
  connected: true
  /** The account's id on the platform, for Bluesky the DID. */
  platformId: string
  /** The URL of the account's server, on platforms with many. */
  server: string | null
  handle: string
  profile: AccountProfile
  health: StoredHealth
  connectedAt: Date
  /** The id of the account with whose login it came; absent for an account with a login of its own. They are disconnected together. */
  companionOf?: string
  auth: SealedAuth
  refreshLease: RefreshLease | null
  /** When the follower count is collected next; while a collector has claimed the account, when its lease ends. */
  followersDueAt: Date
  /** Set unless several users may connect the same account; unique. */
  exclusiveId?: string
}

/** The record of a removed connection, without anything that came from the platform. It continues when the account is connected again. */
export interface DisconnectedAccount extends AccountBase {
  connected: false
}

export type Account = ConnectedAccount | DisconnectedAccount

/** The parts of a new connection; the store adds the rest. */
export type NewConnection = Pick<ConnectedAccount, 'platformId' | 'server' | 'handle' | 'profile' | 'auth'> & {
  /** Why the account cannot be used; null or absent when it can. */
  problem?: string | null
}

/** Builds the connection with secrets sealed for this version. */
export type Seal = (version: number) => NewConnection

/** The result of a renewal. */
export type RenewedConnection = Pick<ConnectedAccount, 'handle' | 'server' | 'auth'>

/** A connection at one version of its secrets. */
export interface AccountVersion {
  userId: string
  platform: Platform
  version: number
}

/** Fields that change while the secrets may stay. */
export type AccountFields = Partial<
  Pick<ConnectedAccount, 'version' | 'handle' | 'server' | 'profile' | 'health' | 'auth' | 'refreshLease'>
>

export function isConnected(account: Account): account is ConnectedAccount {
  return account.connected
}
