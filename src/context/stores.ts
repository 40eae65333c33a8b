import { collectionSettings } from '../config/analytics.ts'
import type { Config } from '../config/schema.ts'
import { DAY } from '../domain/shared/times.ts'
import { createAccountStore } from '../store/accounts/accounts.ts'
import { createConnectAttemptStore } from '../store/accounts/connect-attempts.ts'
import { createPlatformFacts } from '../store/accounts/platform-facts.ts'
import { createServerApplicationStore } from '../store/accounts/server-applications.ts'
import { createAnalyticsReads } from '../store/analytics/analytics-reads.ts'
import { createDeadLetterStore } from '../store/analytics/dead-letters.ts'
import { createDueMetricsStore } from '../store/analytics/due-metrics.ts'
import { createSnapshotWriter } from '../store/analytics/snapshot-writer.ts'
import { createSnapshotStore } from '../store/analytics/snapshots.ts'
import { createPaymentEventStore } from '../store/billing/payment-events.ts'
import { createEventStore } from '../store/events/events.ts'
import { createImportStore } from '../store/imports/imports.ts'
import { createUploadStore } from '../store/media/uploads.ts'
import { createMailStore } from '../store/notifications/mails.ts'
import { createNotificationStore, type Notification } from '../store/notifications/notifications.ts'
import { createPushTokenStore } from '../store/notifications/push-tokens.ts'
import { createPushStore } from '../store/notifications/pushes.ts'
import type { PostRef } from '../store/posts/pending-events.ts'
import { createPostStore } from '../store/posts/posts.ts'
import { createSloStore } from '../store/posts/slo.ts'
import { createPublicationLedger } from '../store/quotas/publication-ledger.ts'
import { createCallWindows } from '../store/quotas/call-windows.ts'
import { watchChanges } from '../store/shared/change-stream.ts'
import type { Database } from '../store/shared/database.ts'
import { createRateLimits } from '../store/shared/rate-limits.ts'
import { createSealedValues } from '../store/shared/sealed-values.ts'
import { createAddressCodeStore } from '../store/users/address-codes.ts'
import { createApiKeyStore } from '../store/users/api-keys.ts'
import { createAuditLog } from '../store/users/audit.ts'
import { createErasureStore } from '../store/users/erasures.ts'
import { createIdentityAttemptStore } from '../store/users/identity-attempts.ts'
import { createLoginThrottle, type LoginAttempt, type LoginLimit } from '../store/users/login-throttle.ts'
import { createPasswordResetStore } from '../store/users/password-resets.ts'
import { createSessionStore } from '../store/users/sessions.ts'
import { createUserStatistics } from '../store/users/user-statistics.ts'
import { createUserStore } from '../store/users/users.ts'
import { createWebhookDeliveryStore } from '../store/webhooks/deliveries.ts'
import { createWebhookStore } from '../store/webhooks/webhooks.ts'

interface StoresOptions {
  config: Config
  database: Database
  now: () => Date
  /** Called after a change that has stored events with a post. */
  onPendingEvents(post: PostRef): void
  /** Starts the pushes of stored notifications; null without push, when no device can be reached. */
  startPushes: ((notifications: Notification[]) => void) | null
  /** Called when failed logins reach a limit, with the wait that follows. */
  onLoginLimit(attempt: LoginAttempt, limit: LoginLimit, waitMs: number): void
}

/** Creates every store of a process, on one connection. */
export function createStores({ config, database, now, onPendingEvents, startPushes, onLoginLimit }: StoresOptions) {
  const { connection } = database
  const events = createEventStore(connection, now, { retentionMs: config.EVENT_RETENTION_DAYS * DAY })
  const users = createUserStore(connection)
  const accounts = createAccountStore({
    database,
    now,
    isShared: config.SHARED_ACCOUNTS === 'on',
    lockUser: users.raiseAnalyticsVersion,
    events,
  })
  const pushTokens = createPushTokenStore(connection, now)
  const notifications = createNotificationStore(connection, now, {
    ...(startPushes && { pushing: { findDeviceOwners: pushTokens.findDeviceOwners, begin: startPushes } }),
    readRetentionMs: config.NOTIFICATION_RETENTION_DAYS * DAY,
  })
  const published = createDueMetricsStore(connection)
  const snapshots = createSnapshotStore(connection)
  const collection = collectionSettings(config)
  const rateLimits = createRateLimits(connection)
  const loginThrottle = createLoginThrottle(
    { connection, rateLimits, now, onLimit: onLoginLimit },
    {
      perAccount: config.LOGIN_FAILURES_PER_ACCOUNT,
      perAddress: config.LOGIN_FAILURES_PER_ADDRESS,
      beforeDelay: config.LOGIN_FAILURES_BEFORE_DELAY,
    },
  )

  return {
    posts: createPostStore(connection, now, { onPendingEvents }),
    slo: createSloStore(connection),
    publicationLedger: createPublicationLedger(connection),
    callWindows: createCallWindows(connection),
    accounts,
    connectAttempts: createConnectAttemptStore(connection),
    platformFacts: createPlatformFacts(connection, now),
    serverApplications: createServerApplicationStore(connection, now),
    users,
    sessions: createSessionStore(connection),
    apiKeys: createApiKeyStore(connection, now),
    addressCodes: createAddressCodeStore(connection, now),
    passwordResets: createPasswordResetStore(connection, now),
    identityAttempts: createIdentityAttemptStore(connection),
    loginThrottle,
    rateLimits,
    sealedValues: createSealedValues(connection),
    audit: createAuditLog(connection),
    erasures: createErasureStore(connection),
    userStatistics: createUserStatistics(connection),
    events,
    /** Changes to stored records by any process. */
    changes: { follow: (handlers: Parameters<typeof watchChanges>[1]) => watchChanges(connection, handlers) },
    notifications,
    mails: createMailStore(connection),
    pushes: createPushStore(connection),
    pushTokens,
    webhooks: createWebhookStore(connection),
    webhookDeliveries: createWebhookDeliveryStore(connection),
    paymentEvents: createPaymentEventStore(connection),
    imports: createImportStore(connection),
    uploads: createUploadStore(connection, now),
    collection,
    published,
    snapshots,
    snapshotWriter: createSnapshotWriter({ database, snapshots, published, users, events, collection }),
    deadLetters: createDeadLetterStore(connection),
    analytics: createAnalyticsReads(connection),
  }
}

export type Stores = ReturnType<typeof createStores>
