import type { Platform } from '../shared/platforms.ts'

/** Identifies an entry of a post: the account that the user chose, or the platform for its default account. */
export type Target = string

/** An account that a post is published with. */
export interface ChosenAccount {
  platform: Platform
  /** Set when the user chose this account; absent for the default account of the platform. */
  target?: string
  /** The id of the account; absent while the platform has none. */
  accountId?: string
  /** The handle of the account when it was chosen. */
  accountName?: string
  /** The URL of the account's server, on platforms with many. */
  server?: string
}

export function toTarget({ platform, target }: { platform: Platform; target?: string }): Target {
  return target ?? platform
}
