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
  /** Absent on platforms without one, and in older records. */
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

export interface ConnectedAccount {
  connected: true
  /** Grows with every change of the secrets and never repeats, also across disconnecting and reconnecting. */
  version: number
  /** The account's id on the platform, for Bluesky the DID. */
  accountId: string
  handle: string
  serviceUrl: string | null
  profile: AccountProfile
  health: StoredHealth
  connectedAt: Date
  auth: SealedAuth
  refreshLease: RefreshLease | null
  endings?: Date[]
}

/** The record of a removed connection, which keeps the versions growing. */
export interface DisconnectedAccount {
  connected: false
  version: number
  /** The latest times at which accounts were disconnected or replaced; absent before the first. */
  endings?: Date[]
}

export type PlatformAccount = ConnectedAccount | DisconnectedAccount

/** The document of a user's platform accounts. */
export type PlatformAccounts = { _id: string; userId: string } & Partial<Record<Platform, PlatformAccount>>

/** The parts of a new connection; the store adds the rest. */
export type NewConnection = Pick<ConnectedAccount, 'accountId' | 'handle' | 'serviceUrl' | 'profile' | 'auth'>

/** Builds the connection with secrets sealed for this version. */
export type Seal = (version: number) => NewConnection

export interface Replaced {
  platform: Platform
  account: ConnectedAccount
}

/** The result of a renewal. */
export type RenewedConnection = Pick<ConnectedAccount, 'handle' | 'serviceUrl' | 'auth'>

/** A connection at one version of its secrets. */
export interface AccountVersion {
  userId: string
  platform: Platform
  version: number
}
