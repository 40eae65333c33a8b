import { NO_BILLING, type Billing } from '../billing/billing.ts'
import type { Limits, Subscription, Usage } from '../billing/subscription.ts'
import type { NotificationPreferences } from './notification-preferences.ts'
import { isTimezone } from '../shared/timezones.ts'
import { identicon } from './identicon.ts'

export const ROLES = ['user', 'admin'] as const
export type Role = (typeof ROLES)[number]

/** Ways to authenticate: an `email` account has a password, the others do not. */
export const AUTH_PROVIDERS = ['email', 'google'] as const
export type AuthProvider = (typeof AUTH_PROVIDERS)[number]

/** A user as stored. */
export interface User {
  _id: string
  /** Trimmed and in lower case, unique. */
  email: string
  name: string
  role: Role
  isDisabled: boolean
  /** Null for accounts that log in with an identity provider. */
  passwordHash: string | null
  /** `subject` is the identity provider's permanent id of the account; absent for `email`. */
  auth: { provider: AuthProvider; subject?: string }
  avatar: string | null
  timezone: string
  /** How long immediate posts wait before they are published, seconds; absent: 0. */
  holdSeconds?: number
  /** Claim `ver` of access tokens: incrementing it immediately revokes all tokens of the user. */
  tokenVersion: number
  subscription: Subscription
  billing: Billing
  usage: Usage
  limits: Limits
  /** Incremented by every new snapshot, which invalidates cached analytics; absent before the first. */
  analyticsVersion?: number
  /** Absent while all channels are as by default. */
  notificationPreferences?: NotificationPreferences
  createdAt: Date
  lastLogin: Date | null
}

export type NewUser = Pick<User, '_id' | 'email' | 'name' | 'passwordHash' | 'limits'> &
  Partial<Pick<User, 'role' | 'auth' | 'avatar' | 'timezone'>>

/**
 * Creates a user on the Free plan. Its subscription is `active` although it was never paid for. An unknown timezone, such as that of a newer
 * browser, becomes UTC.
 */
export function newUser({ timezone = 'UTC', ...input }: NewUser, now: Date): User {
  return {
    role: 'user',
    auth: { provider: 'email' },
    avatar: identicon(input._id),
    ...input,
    email: normalizeEmail(input.email),
    isDisabled: false,
    timezone: isTimezone(timezone) ? timezone : 'UTC',
    tokenVersion: 0,
    subscription: {
      plan: 'free',
      status: 'active',
      processorCustomerId: null,
      processorSubscriptionId: null,
      currentPeriodStart: null,
      currentPeriodEnd: null,
      cancelAtPeriodEnd: false,
    },
    billing: NO_BILLING,
    usage: { postsCreated: 0, captionGenerations: 0 },
    createdAt: now,
    lastLogin: null,
  }
}

/** Returns the spelling of an address that is stored and queried. */
export function normalizeEmail(email: string): string {
  return email.trim().toLowerCase()
}
