import { NO_BILLING, type Billing } from '../billing/billing.ts'
import type { Limits, Subscription, Usage } from '../billing/subscription.ts'
import { identicon } from './identicon.ts'

export const ROLES = ['user', 'admin'] as const
export type Role = (typeof ROLES)[number]

/** How an account proves who its user is: an `email` account has a password, the others do not. */
export const AUTH_PROVIDERS = ['email', 'google'] as const
export type AuthProvider = (typeof AUTH_PROVIDERS)[number]

/** The user record (spec section 2). */
export interface User {
  _id: string
  /** Trimmed and in lower case, unique. */
  email: string
  name: string
  role: Role
  isDisabled: boolean
  /** Null for accounts of an identity provider. */
  passwordHash: string | null
  /** With the provider's own id of the account, which never changes, where there is a provider. */
  auth: { provider: AuthProvider; subject?: string }
  avatar: string | null
  timezone: string
  /** Claim `ver` of access tokens: raising it ends every token of the user at once. */
  tokenVersion: number
  subscription: Subscription
  billing: Billing
  usage: Usage
  limits: Limits
  /** Grows with every new snapshot: what was worked out from the older ones is no longer shown. Absent before the first. */
  analyticsVersion?: number
  createdAt: Date
  lastLogin: Date | null
}

export type NewUser = Pick<User, '_id' | 'email' | 'name' | 'passwordHash' | 'limits'> &
  Partial<Pick<User, 'role' | 'auth' | 'avatar'>>

/** A Free account, which counts as `active` without ever having paid (contract section 7). */
export function newUser(input: NewUser, now: Date): User {
  return {
    role: 'user',
    auth: { provider: 'email' },
    avatar: identicon(input._id),
    ...input,
    email: normalizeEmail(input.email),
    isDisabled: false,
    timezone: 'UTC',
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

/** The one spelling of an address that is stored and looked up. */
export function normalizeEmail(email: string): string {
  return email.trim().toLowerCase()
}
