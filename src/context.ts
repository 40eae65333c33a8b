import type { BackgroundBacklog } from './activities/publishing/sweep.ts'
import { systemClock, type Clock } from './clock.ts'
import { createAccountLimit } from './commands/accounts/account-limit.ts'
import { createAccountCredentials } from './commands/accounts/account-credentials.ts'
import { createServerApplications } from './commands/accounts/server-applications.ts'
import { createEventRelay } from './commands/events/relay-events.ts'
import { createStartPushes, pushBacklog } from './commands/notifications/start-pushes.ts'
import { createDiscardPrepared } from './commands/posts/discard-prepared.ts'
import { importBacklog } from './commands/imports/change-import.ts'
import { mailBacklog } from './commands/notifications/queue-mail.ts'
import { erasureBacklog } from './commands/users/erase-account.ts'
import { createLoginEvents } from './commands/users/login-events.ts'
import { paymentBacklog } from './commands/billing/payment-backlog.ts'
import { createWakeWebhooks, webhookBacklog } from './commands/webhooks/wake-webhooks.ts'
import { createStartQueue } from './commands/posts/start-queue.ts'
import { createStorePost } from './commands/posts/store-post.ts'
import { createSyncSubscription } from './commands/billing/sync-subscription.ts'
import type { Config } from './config/schema.ts'
import type { AccessTokens } from './domain/users/access-tokens.ts'
import { DAY, SECOND } from './domain/shared/times.ts'
import { createAvatars } from './integrations/storage/avatars.ts'
import type { CaptionProvider } from './integrations/captions/captions.ts'
import { createConnectStates } from './security/connect-states.ts'
import { createKnownDevices } from './security/known-devices.ts'
import { createLargeTexts } from './integrations/large-texts/large-texts.ts'
import { createMailer } from './integrations/mail/mail.ts'
import { createMediaSource } from './integrations/storage/media-source.ts'
import { createMetrics } from './telemetry/metrics.ts'
import { createQuotaObserver } from './telemetry/quota-observer.ts'
import type { Payments } from './integrations/payments/payments.ts'
import type { PublishOrchestrator } from './integrations/temporal/orchestrator.ts'
import { createPasswordHasher } from './security/password-hasher.ts'
import { createPseudonyms } from './security/pseudonyms.ts'
import type { Push } from './integrations/push/push.ts'
import { createRefreshTokens } from './security/refresh-tokens.ts'
import { createOneTimeCodes } from './security/one-time-codes.ts'
import { createTokenCipher } from './security/token-cipher.ts'
import { createLogger, type Logger } from './logger.ts'
import { instrumentPlatforms } from './platforms/instrumented.ts'
import { collectionSettings } from './config/analytics.ts'
import {
  createCaptionProvider,
  createConfiguredOrchestrator,
  createConfiguredStorage,
  createGoogleLogin,
  createPaymentsIfConfigured,
  createPushIfConfigured,
  createConfiguredWebhookSender,
} from './config/clients.ts'
import { createLimits } from './config/limits.ts'
import { accountLimits, burstLimits, planLimits, planWeights } from './config/plans.ts'
import { platformSettings } from './config/platforms.ts'
import { createPlatformRegistry, type PlatformRegistry } from './platforms/registry.ts'
import { createReadiness } from './readiness.ts'
import { toUserAgent } from './config/user-agent.ts'
import { createAnalyticsReads } from './store/analytics/analytics-reads.ts'
import { createApiKeyStore } from './store/users/api-keys.ts'
import { createImportStore } from './store/imports/imports.ts'
import { createAuditLog } from './store/users/audit.ts'
import { createAddressCodeStore } from './store/users/address-codes.ts'
import { createAccountStore } from './store/accounts/accounts.ts'
import { createConnectAttemptStore } from './store/accounts/connect-attempts.ts'
import { watchChanges } from './store/shared/change-stream.ts'
import { openDatabase, type Database } from './store/shared/database.ts'
import { createDeadLetterStore } from './store/analytics/dead-letters.ts'
import { createEventStore } from './store/events/events.ts'
import { createErasureStore } from './store/users/erasures.ts'
import { createIdentityAttemptStore } from './store/users/identity-attempts.ts'
import { createLoginThrottle } from './store/users/login-throttle.ts'
import { createMailStore } from './store/notifications/mails.ts'
import { createNotificationStore } from './store/notifications/notifications.ts'
import { createPaymentEventStore } from './store/billing/payment-events.ts'
import { createPasswordResetStore } from './store/users/password-resets.ts'
import { createPlatformFacts } from './store/accounts/platform-facts.ts'
import { createServerApplicationStore } from './store/accounts/server-applications.ts'
import { createPostStore } from './store/posts/posts.ts'
import { createDueMetricsStore } from './store/analytics/due-metrics.ts'
import { createSloStore } from './store/posts/slo.ts'
import { createPushTokenStore } from './store/notifications/push-tokens.ts'
import { createPushStore } from './store/notifications/pushes.ts'
import { createPublicationLedger } from './store/quotas/publication-ledger.ts'
import { createQuotaLedger } from './store/quotas/quota-ledger.ts'
import { createRateLimits } from './store/shared/rate-limits.ts'
import { createSnapshotWriter } from './store/analytics/snapshot-writer.ts'
import { createSessionStore } from './store/users/sessions.ts'
import { createSnapshotStore } from './store/analytics/snapshots.ts'
import { createUploadStore } from './store/media/uploads.ts'
import { createUserStatistics } from './store/users/user-statistics.ts'
import { createUserStore } from './store/users/users.ts'
import { createWebhookDeliveryStore } from './store/webhooks/deliveries.ts'
import { createWebhookStore } from './store/webhooks/webhooks.ts'

interface Overrides {
  logger?: Logger
  clock?: Clock
  platforms?: PlatformRegistry
  orchestrator?: PublishOrchestrator
  push?: Push
  captions?: CaptionProvider
  payments?: Payments
  /** A database that may become reachable later. Without it `createContext` fails when the database does not answer. */
  database?: Database
}

/** Creates the stores and clients of a process. Temporal and storage are connected when first used. */
export async function createContext(config: Config, overrides: Overrides = {}) {
  const logger = overrides.logger ?? createLogger(config.LOG_LEVEL)
  const clock = overrides.clock ?? systemClock
  const now = () => clock.now()

  const metrics = createMetrics()
  const draining = new AbortController()

  const database = overrides.database ?? (await openDatabase(config.MONGODB_URL))
  const { connection } = database
  const events = createEventStore(connection, now, { retentionMs: config.EVENT_RETENTION_DAYS * DAY })
  const posts = createPostStore(connection, now, { onPendingEvents: (post) => eventRelay.add([post]) })
  const published = createDueMetricsStore(connection)
  const snapshots = createSnapshotStore(connection)
  const collection = collectionSettings(config)
  const users = createUserStore(connection)
  const sessions = createSessionStore(connection)
  const accounts = createAccountStore({
    database,
    now,
    isShared: config.SHARED_ACCOUNTS === 'on',
    lockUser: users.raiseAnalyticsVersion,
    events,
  })
  const mails = createMailStore(connection)
  const orchestrator = overrides.orchestrator ?? createConfiguredOrchestrator(config, { logger, metrics })

  const weights = planWeights(config)
  const startQueue = createStartQueue({ posts, orchestrator, metrics, logger, planWeights: weights })

  const push = overrides.push ?? createPushIfConfigured(config)
  const pushes = createPushStore(connection)
  const pushTokens = createPushTokenStore(connection, now)
  const notifications = createNotificationStore(connection, now, {
    pushing: {
      // Without push no device can be reached.
      findDeviceOwners: push ? pushTokens.findDeviceOwners : async () => new Set(),
      begin: createStartPushes({ orchestrator, logger }),
    },
    readRetentionMs: config.NOTIFICATION_RETENTION_DAYS * DAY,
  })
  const eventRelay = createEventRelay({ database, posts, events, notifications, logger })
  const webhooks = createWebhookStore(connection)
  const webhookSender = createConfiguredWebhookSender(config)
  const wakeWebhooks = createWakeWebhooks({ logger, orchestrator, webhooks })
  events.onAppended(wakeWebhooks.wakeUsers)
  const payments = overrides.payments ?? createPaymentsIfConfigured(config, metrics)
  const paymentEvents = createPaymentEventStore(connection)
  const erasures = createErasureStore(connection)
  const imports = createImportStore(connection)
  const rateLimits = createRateLimits(connection)
  const loginEvents = createLoginEvents({ logger, metrics, pseudonyms: createPseudonyms(config.REFRESH_TOKEN_SECRET) })
  const loginThrottle = createLoginThrottle(
    { connection, rateLimits, now, onLimit: loginEvents.throttled },
    {
      perAccount: config.LOGIN_FAILURES_PER_ACCOUNT,
      perAddress: config.LOGIN_FAILURES_PER_ADDRESS,
      beforeDelay: config.LOGIN_FAILURES_BEFORE_DELAY,
    },
  )

  const storage = createConfiguredStorage(config)
  const media = createMediaSource(storage)
  const cipher = createTokenCipher(config.TOKEN_ENCRYPTION_KEYS)
  const publicationLedger = createPublicationLedger(connection)
  const platforms = instrumentPlatforms(
    overrides.platforms ??
      createPlatformRegistry({
        ...platformSettings(config),
        publishTimeoutMs: config.PUBLISH_TIMEOUT_MS,
        userAgent: toUserAgent(config),
        unansweredInFlightMs: config.UNANSWERED_CALL_SETTLE_MS,
        facts: createPlatformFacts(connection, now),
        quotas: {
          ledger: createQuotaLedger(connection),
          publications: publicationLedger,
          observer: createQuotaObserver({ logger, metrics }),
        },
        applications: createServerApplications({ store: createServerApplicationStore(connection, now), cipher }),
        media,
      }),
    metrics,
  )
  const mailer = createMailer({ url: config.SMTP_URL, from: config.MAIL_FROM })
  const credentials = createAccountCredentials({
    accounts,
    cipher,
    adapters: platforms,
    events,
    notifications,
    database,
    clock,
  })
  /** Records whose background work the sweeper starts when no other process did. */
  const backlogs: BackgroundBacklog[] = [
    mailBacklog({ mails }),
    pushBacklog({ pushes }),
    erasureBacklog({ erasures }),
    paymentBacklog({ paymentEvents }),
    importBacklog({ imports }),
    webhookBacklog({ clock, events, webhooks }),
  ]

  return {
    config,
    logger,
    clock,
    database,
    posts,
    published,
    collection,
    users,
    sessions,
    apiKeys: createApiKeyStore(connection, now),
    accounts,
    events,
    eventRelay,
    findAccountLimit: createAccountLimit({ users, limits: accountLimits(config) }),
    notifications,
    mails,
    mailer,
    /** Changes to stored records by any process. */
    changes: { follow: (handlers: Parameters<typeof watchChanges>[1]) => watchChanges(connection, handlers) },
    captions: overrides.captions ?? createCaptionProvider(config),
    largeTexts: createLargeTexts(),
    uploads: createUploadStore(connection, now),
    /** Null where payments are not configured. */
    payments,
    paymentEvents,
    syncSubscription: createSyncSubscription({
      database,
      users,
      payments,
      paymentEvents,
      events,
      notifications,
      planLimits: planLimits(config),
      clock,
      logger,
    }),
    push,
    pushes,
    pushTokens,
    webhooks,
    webhookDeliveries: createWebhookDeliveryStore(connection),
    webhookSender,
    wakeWebhooks,
    storePost: createStorePost({ database, eventRelay, posts, notifications, users }),
    startQueue,
    audit: createAuditLog(connection),
    erasures,
    imports,
    deadLetters: createDeadLetterStore(connection),
    userStatistics: createUserStatistics(connection),
    slo: createSloStore(connection),
    snapshots,
    analytics: createAnalyticsReads(connection),
    snapshotWriter: createSnapshotWriter({
      database,
      snapshots,
      published,
      users,
      events,
      collection,
    }),
    loginEvents,
    loginThrottle,
    rateLimits,
    limits: createLimits(rateLimits, config),
    planLimits: planLimits(config),
    planWeights: weights,
    burstLimits: burstLimits(config),
    passwords: createPasswordHasher(),
    refreshTokens: createRefreshTokens(config.REFRESH_TOKEN_SECRET),
    knownDevices: createKnownDevices(config.REFRESH_TOKEN_SECRET),
    oneTimeCodes: createOneTimeCodes(config.REFRESH_TOKEN_SECRET),
    addressCodes: createAddressCodeStore(connection, now),
    passwordResets: createPasswordResetStore(connection, now),
    connectStates: createConnectStates(config.OAUTH_STATE_SECRET),
    connectAttempts: createConnectAttemptStore(connection),
    identityAttempts: createIdentityAttemptStore(connection),
    /** Null where the login with Google is not configured. */
    identity: createGoogleLogin(config),
    metrics,
    cipher,
    credentials,
    discardPrepared: createDiscardPrepared({ credentials, platforms, clock, logger }),
    storage,
    media,
    publicationLedger,
    preflightLeadMs: config.PREFLIGHT_LEAD_SECONDS * SECOND,
    avatars: createAvatars({ storage, timeoutMs: 5 * SECOND }),
    platforms,
    orchestrator,
    backlogs,

    /** Aborts when this process is asked to stop. From then on it is not ready for new work. */
    draining: draining.signal,
    readiness: createReadiness({ database, clock, draining: draining.signal }),
    drain: (): void => draining.abort(new Error('This process is stopping')),

    /** The problems that prevent publishing now, as sentences (`GET /health/delivery`). */
    async deliveryHealth(): Promise<string[]> {
      const found = await Promise.all([
        orchestrator.findProblems(config.SWEEP_INTERVAL_MS, config.WORKER_SILENCE_MS),
        findProblem(database.ping(), 'The database does not answer'),
        findProblem(storage.ping(), 'Object storage does not answer'),
      ])
      return found.flat()
    },

    async close(): Promise<void> {
      await startQueue.close()
      await eventRelay.close()
      wakeWebhooks.close()
      await Promise.allSettled([
        orchestrator.close(),
        platforms.close(),
        push?.close(),
        mailer.close(),
        webhookSender.close(),
      ])
      storage.close()
      await database.close()
    },
  }
}

/** Returns the problem when the check fails, else an empty list. */
function findProblem(check: Promise<void>, problem: string): Promise<string[]> {
  return check.then(
    () => [],
    () => [problem],
  )
}

export type Context = Awaited<ReturnType<typeof createContext>>

/** The context of the API, whose app issues the access tokens (`api/plugins/access-tokens.ts`). */
export type ApiContext = Context & { accessTokens: AccessTokens }
