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
  /** Absent where a platform has none, and in what was stored before there were any. */
  tokenSecret?: string
  refreshToken: string | null
  /** When the access token ends. */
  expiresAt: Date | null
  /** When the connection ends unless it is renewed before. */
  endsAt: Date | null
}

/**
 * Who renews the tokens of `version`, until when. Without a holder it is a pause after a renewal that could not be made:
 * nobody tries before `until`.
 */
export interface RefreshLease {
  version: number
  holder: string | null
  until: Date
}

export interface ConnectedAccount {
  connected: true
  /** Grows with every change of the secrets and never repeats, over disconnecting and connecting again as well. */
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

/** What remains of a connection that was cut, so that versions go on growing. */
export interface DisconnectedAccount {
  connected: false
  version: number
  /** When accounts were disconnected or gave way to others, the latest of them; absent before the first. */
  endings?: Date[]
}

export type PlatformAccount = ConnectedAccount | DisconnectedAccount

/** The platform account document, one per user (spec section 2). */
export type PlatformAccounts = { _id: string; userId: string } & Partial<Record<Platform, PlatformAccount>>

/** What a new connection is made of; the store adds the rest. */
export type NewConnection = Pick<ConnectedAccount, 'accountId' | 'handle' | 'serviceUrl' | 'profile' | 'auth'>

/** Makes the connection with the secrets sealed for this version. */
export type Seal = (version: number) => NewConnection

export interface Replaced {
  platform: Platform
  account: ConnectedAccount
}

/** What a renewal brings. */
export type RenewedConnection = Pick<ConnectedAccount, 'handle' | 'serviceUrl' | 'auth'>

/** A connection at one version of its secrets. */
export interface AccountVersion {
  userId: string
  platform: Platform
  version: number
}
