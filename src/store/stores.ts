import { createAccountStore } from './accounts/accounts.ts'
import { createConnectAttemptStore } from './accounts/connect-attempts.ts'
import { createGroupStore } from './accounts/groups.ts'
import { createPlatformFacts } from './accounts/platform-facts.ts'
import { createServerApplicationStore } from './accounts/server-applications.ts'
import { createAnalyticsReads } from './analytics/analytics-reads.ts'
import { createDeadLetterStore } from './analytics/dead-letters.ts'
import { createDueMetricsStore } from './analytics/due-metrics.ts'
import { createSnapshotWriter } from './analytics/snapshot-writer.ts'
import { createSnapshotStore } from './analytics/snapshots.ts'
import { createPaymentEventStore } from './billing/payment-events.ts'
import { createEventStore } from './events/events.ts'
import { createImportStore } from './imports/imports.ts'
import { createUploadStore } from './media/uploads.ts'
import { createMailStore } from './notifications/mails.ts'
import { createNotificationStore, type Sending } from './notifications/notifications.ts'
import { createPushTokenStore } from './notifications/push-tokens.ts'
import { createPushStore } from './notifications/pushes.ts'
import type { PostRef } from './posts/pending-events.ts'
import { createPostStore } from './posts/posts.ts'
import { createSloStore } from './posts/slo.ts'
import { createSlotStore } from './accounts/slots.ts'
import { createPublicationLedger } from './quotas/publication-ledger.ts'
import { createCallWindows } from './quotas/call-windows.ts'
import { watchChanges } from './shared/change-stream.ts'
import type { Database } from './shared/database.ts'
import { createRateLimits } from './shared/rate-limits.ts'
import { createSealedValues } from './shared/sealed-values.ts'
import { createAddressCodeStore } from './users/address-codes.ts'
import { createApiKeyStore } from './users/api-keys.ts'
import { createAuditLog } from './users/audit.ts'
import { createErasureStore } from './users/erasures.ts'
import { createIdentityAttemptStore } from './users/identity-attempts.ts'
import { createLoginThrottle, type LoginAttempt, type LoginLimit } from './users/login-throttle.ts'
import { createPasswordResetStore } from './users/password-resets.ts'
import { createSessionStore } from './users/sessions.ts'
import { createUserStatistics } from './users/user-statistics.ts'
import { createUserStore } from './users/users.ts'
import { createWebhookDeliveryStore } from './webhooks/deliveries.ts'
import { createWebhookStore } from './webhooks/webhooks.ts'

interface StoresOptions {
  database: Database
  now: () => Date
  /** Called after a change that has stored events with a post. */
  onPendingEvents(post: PostRef): void
  sending: Omit<Sending, 'mails'>
  /** Called when failed logins reach a limit, with the wait that follows. */
  onLoginLimit(attempt: LoginAttempt, limit: LoginLimit, waitMs: number): void
  settings: StoreSettings
}

export interface StoreSettings {
  /** Whether several users may connect the same account. */
  sharedAccounts: boolean
  eventRetentionMs: number
  readNotificationRetentionMs: number
  loginLimits: Parameters<typeof createLoginThrottle>[1]
  collection: Parameters<typeof createSnapshotWriter>[0]['collection']
}

/** Creates every store of a process, on one connection. */
export function createStores({ database, now, onPendingEvents, sending, onLoginLimit, settings }: StoresOptions) {
  const { connection } = database
  const events = createEventStore(connection, now, { retentionMs: settings.eventRetentionMs })
  const users = createUserStore(connection)
  const groups = createGroupStore(connection)
  const slots = createSlotStore(connection)
  const accounts = createAccountStore({
    database,
    now,
    isShared: settings.sharedAccounts,
    lockUser: users.raiseAnalyticsVersion,
    events,
    groups,
    slots,
  })
  const mails = createMailStore(connection)
  const notifications = createNotificationStore(connection, now, {
    sending: { ...sending, mails },
    readRetentionMs: settings.readNotificationRetentionMs,
  })
  const published = createDueMetricsStore(connection)
  const snapshots = createSnapshotStore(connection)
  const rateLimits = createRateLimits(connection)
  const loginThrottle = createLoginThrottle(
    { connection, rateLimits, now, onLimit: onLoginLimit },
    settings.loginLimits,
  )

  return {
    posts: createPostStore(connection, now, { onPendingEvents }),
    slo: createSloStore(connection),
    publicationLedger: createPublicationLedger(connection),
    callWindows: createCallWindows(connection),
    accounts,
    groups,
    slots,
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
    mails,
    pushes: createPushStore(connection),
    pushTokens: createPushTokenStore(connection, now),
    webhooks: createWebhookStore(connection),
    webhookDeliveries: createWebhookDeliveryStore(connection),
    paymentEvents: createPaymentEventStore(connection),
    imports: createImportStore(connection),
    uploads: createUploadStore(connection, now),
    published,
    snapshots,
    snapshotWriter: createSnapshotWriter({
      database,
      snapshots,
      published,
      users,
      events,
      collection: settings.collection,
    }),
    deadLetters: createDeadLetterStore(connection),
    analytics: createAnalyticsReads(connection),
  }
}

export type Stores = ReturnType<typeof createStores>
