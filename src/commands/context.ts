import type { Limits, PlanWeights, SubscriptionPlan } from '../domain/billing/subscription.ts'
import type { BurstLimits } from '../domain/posts/due-order.ts'
import type { AccessTokens } from '../domain/users/access-tokens.ts'
import type { ConnectStates } from '../security/connect-states.ts'
import type { KnownDevices } from '../security/known-devices.ts'
import type { OneTimeCodes } from '../security/one-time-codes.ts'
import type { PasswordHasher } from '../security/password-hasher.ts'
import type { RefreshTokens } from '../security/refresh-tokens.ts'
import type { RateLimit } from '../store/shared/rate-limits.ts'
import type { AccountCredentials } from './accounts/account-credentials.ts'
import type { AskPublicationQuota } from './accounts/ask-publication-quota.ts'
import type { SyncSubscription } from './billing/sync-subscription.ts'
import type { EventRelay } from './events/relay-events.ts'
import type { DiscardPrepared } from './posts/discard-prepared.ts'
import type { StartQueue } from './posts/start-queue.ts'
import type { StorePost } from './posts/store-post.ts'
import type { LoginEvents } from './users/login-events.ts'
import type { WakeWebhooks } from './webhooks/wake-webhooks.ts'
import type { Parts } from './parts.ts'

/** The limits that commands enforce, counted in MongoDB. */
type LimitName =
  | 'accountRefresh'
  | 'analyticsRefresh'
  | 'blueskyGuess'
  | 'blueskyIdentifier'
  | 'blueskyUser'
  | 'captions'
  | 'connectStart'
  | 'failedRefreshes'
  | 'furtherMails'
  | 'linkPreview'
  | 'mailsOfSender'
  | 'mailsToAddress'
  | 'mediaAddress'
  | 'otp'
  | 'resetMail'
  | 'webhookTest'
  | 'webhookUrl'

/** The parts of a process that commands use. */
export interface CommandContext extends Parts {
  config: { FRONTEND_URL: string; UPLOAD_QUOTA_BYTES: number; SIGNUP_EMAIL_VERIFICATION: 'on' | 'off' }
  /** Aborts when the process stops. */
  draining: AbortSignal
  limits: Record<LimitName, RateLimit>
  planLimits: Record<SubscriptionPlan, Limits>
  planWeights: PlanWeights
  burstLimits: BurstLimits
  passwords: PasswordHasher
  refreshTokens: RefreshTokens
  knownDevices: KnownDevices
  oneTimeCodes: OneTimeCodes
  connectStates: ConnectStates

  askPublicationQuota: AskPublicationQuota
  credentials: AccountCredentials
  eventRelay: EventRelay
  discardPrepared: DiscardPrepared
  findAccountLimit(userId: string): Promise<number>
  loginEvents: LoginEvents
  startQueue: StartQueue
  storePost: StorePost
  syncSubscription: SyncSubscription
  wakeWebhooks: WakeWebhooks
}

/** The context of commands that open sessions. Only the API has access tokens. */
export interface SessionContext extends CommandContext {
  accessTokens: AccessTokens
}
