import type { Backlog } from './activities/publishing/sweep.ts'
import { systemClock, type Clock } from './clock.ts'
import { createAccountCredentials } from './commands/accounts/account-credentials.ts'
import { createBeginPushes, pushBacklog } from './commands/notifications/begin-pushes.ts'
import { createDiscardPrepared } from './commands/posts/discard-prepared.ts'
import { mailBacklog } from './commands/notifications/queue-mail.ts'
import { erasureBacklog } from './commands/users/erase-account.ts'
import { createLoginEvents } from './commands/users/login-events.ts'
import { paymentBacklog } from './commands/billing/payment-backlog.ts'
import { createStorePost } from './commands/posts/store-post.ts'
import { createSyncSubscription } from './commands/billing/sync-subscription.ts'
import type { Config } from './config/schema.ts'
import type { AccessTokens } from './domain/users/access-tokens.ts'
import { parseList } from './domain/shared/lists.ts'
import { HOUR, MINUTE, SECOND } from './domain/shared/times.ts'
import { createAvatars } from './integrations/storage/avatars.ts'
import {
  createProviderCaptions,
  createTemplateCaptions,
  type CaptionProvider,
} from './integrations/captions/captions.ts'
import { createConnectStates } from './security/connect-states.ts'
import { createIdentityProvider, type IdentityProvider } from './integrations/openid/openid.ts'
import { createKnownDevices } from './security/known-devices.ts'
import { createLargeTexts } from './integrations/large-texts/large-texts.ts'
import { createMailer } from './integrations/mail/mail.ts'
import { createMediaSource } from './integrations/storage/media-source.ts'
import { createMetrics, type Metrics } from './telemetry/metrics.ts'
import { createPayments, type Payments } from './integrations/payments/payments.ts'
import { createOrchestrator, type PublishOrchestrator } from './integrations/temporal/orchestrator.ts'
import { createPasswordHasher } from './security/password-hasher.ts'
import { createPseudonyms } from './security/pseudonyms.ts'
import { createPush, type Push } from './integrations/push/push.ts'
import { createRefreshTokens } from './security/refresh-tokens.ts'
import { createOneTimeCodes } from './security/one-time-codes.ts'
import { createObjectStorage } from './integrations/storage/storage.ts'
import { createTokenCipher } from './security/token-cipher.ts'
import { createLogger, type Logger } from './logger.ts'
import { observePlatforms } from './platforms/instrumented.ts'
import { collectionSettings } from './config/analytics.ts'
import { planLimits } from './config/plans.ts'
import { platformSettings } from './config/platforms.ts'
import { createPlatformRegistry, type PlatformRegistry } from './platforms/registry.ts'
import { createReadiness } from './readiness.ts'
import { userAgentOf } from './config/user-agent.ts'
import { createAnalyticsReads } from './store/analytics/analytics-reads.ts'
import { createAuditLog } from './store/users/audit.ts'
import { createAddressCodeStore } from './store/users/address-codes.ts'
import { createConnectAttemptStore } from './store/accounts/connect-attempts.ts'
import { followChanges } from './store/shared/change-stream.ts'
import { openDatabase, type Database } from './store/shared/database.ts'
import { createDeadLetterStore } from './store/analytics/dead-letters.ts'
import { createErasureStore } from './store/users/erasures.ts'
import { createLoginAttemptStore } from './store/users/identity-attempts.ts'
import { createLoginThrottle } from './store/users/login-throttle.ts'
import { createMailStore } from './store/notifications/mails.ts'
import { createNotificationStore } from './store/notifications/notifications.ts'
import { createPaymentEventStore } from './store/billing/payment-events.ts'
import { createPasswordResetStore } from './store/users/password-resets.ts'
import { createPlatformAccountStore } from './store/accounts/platform-accounts.ts'
import { createPlatformFacts } from './store/accounts/platform-facts.ts'
import { createPostStore } from './store/posts/posts.ts'
import { createPublishedPostStore } from './store/analytics/due-metrics.ts'
import { createPunctualityStore } from './store/posts/slo.ts'
import { createPushTokenStore } from './store/notifications/push-tokens.ts'
import { createPushStore } from './store/notifications/pushes.ts'
import { createRateLimits } from './store/shared/rate-limits.ts'
import { createSaveSnapshots } from './store/analytics/snapshot-writer.ts'
import { createSessionStore } from './store/users/sessions.ts'
import { createSnapshotStore } from './store/analytics/snapshots.ts'
import { createUploadStore } from './store/media/uploads.ts'
import { createUserStatistics } from './store/users/user-statistics.ts'
import { createUserStore } from './store/users/users.ts'

interface Overrides {
  logger?: Logger
  clock?: Clock
  platforms?: PlatformRegistry
  orchestrator?: PublishOrchestrator
  push?: Push
  captions?: CaptionProvider
  payments?: Payments
  /** One that may answer later; without it the database must answer now. */
  database?: Database
}

/** Builds everything a process of the service is made of, once. Temporal and storage are connected to when first needed. */
export async function createContext(config: Config, overrides: Overrides = {}) {
  const logger = overrides.logger ?? createLogger(config.LOG_LEVEL)
  const clock = overrides.clock ?? systemClock
  const now = () => clock.now()

  const metrics = createMetrics()
  const draining = new AbortController()

  const database = overrides.database ?? (await openDatabase(config.MONGODB_URL))
  const { connection } = database
  const posts = createPostStore(connection, now)
  const published = createPublishedPostStore(connection)
  const snapshots = createSnapshotStore(connection)
  const collection = collectionSettings(config)
  const users = createUserStore(connection)
  const sessions = createSessionStore(connection)
  const accounts = createPlatformAccountStore(connection, now)
  const mails = createMailStore(connection)
  const orchestrator =
    overrides.orchestrator ??
    createOrchestrator({
      address: config.TEMPORAL_ADDRESS,
      namespace: config.TEMPORAL_NAMESPACE,
      onUnreachable: (error) =>
        logger.warn({ err: error }, 'Temporal did not acknowledge; the sweeper takes up what must not be lost'),
      onUnknownAttributes: (error) =>
        logger.warn({ err: error }, 'posts start without search attributes; run "npm run setup" to create them'),
      onTerminated(workflow) {
        metrics.terminatedStuck(workflow.type)
        logger.error(workflow, 'stuck workflow terminated')
      },
    })

  const push = overrides.push ?? pushOf(config)
  const pushes = createPushStore(connection)
  const pushTokens = createPushTokenStore(connection, now)
  const notifications = createNotificationStore(connection, now, {
    // Without push nobody has a device that could be reached.
    ownersAmong: push ? pushTokens.ownersAmong : async () => new Set(),
    begin: createBeginPushes({ orchestrator, logger }),
  })
  const payments = overrides.payments ?? paymentsOf(config, metrics)
  const paymentEvents = createPaymentEventStore(connection)
  const erasures = createErasureStore(connection)
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

  const storage = createObjectStorage({
    endpoint: config.S3_ENDPOINT,
    region: config.S3_REGION,
    bucket: config.S3_BUCKET,
    accessKeyId: config.S3_ACCESS_KEY_ID,
    secretAccessKey: config.S3_SECRET_ACCESS_KEY,
    publicUrl: config.S3_PUBLIC_URL,
  })
  const platforms = observePlatforms(
    overrides.platforms ??
      createPlatformRegistry({
        ...platformSettings(config),
        publishTimeoutMs: config.PUBLISH_TIMEOUT_MS,
        userAgent: userAgentOf(config),
        unansweredSettleMs: config.UNANSWERED_CALL_SETTLE_MS,
        facts: createPlatformFacts(connection, now),
        media: createMediaSource(storage),
      }),
    metrics,
  )
  const mailer = createMailer({ url: config.SMTP_URL, from: config.MAIL_FROM })
  const cipher = createTokenCipher(config.TOKEN_ENCRYPTION_KEYS)
  const credentials = createAccountCredentials({
    accounts,
    cipher,
    adapters: platforms,
    notifications,
    database,
    clock,
  })
  /** Records whose work in the background the sweeper starts where nobody else could. */
  const backlogs: Backlog[] = [
    mailBacklog({ mails }),
    pushBacklog({ pushes }),
    erasureBacklog({ erasures }),
    paymentBacklog({ paymentEvents }),
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
    accounts,
    notifications,
    mails,
    mailer,
    /** What is stored and changed by whatever process, told as it happens. */
    changes: { follow: (follower: Parameters<typeof followChanges>[1]) => followChanges(connection, follower) },
    captions: overrides.captions ?? captionsOf(config),
    largeTexts: createLargeTexts(),
    uploads: createUploadStore(connection, now),
    /** Null where they are not set up. */
    payments,
    paymentEvents,
    syncSubscription: createSyncSubscription({
      database,
      users,
      payments,
      paymentEvents,
      notifications,
      planLimits: planLimits(config),
      clock,
      logger,
    }),
    push,
    pushes,
    pushTokens,
    storePost: createStorePost({ database, posts, notifications, users }),
    audit: createAuditLog(connection),
    erasures,
    deadLetters: createDeadLetterStore(connection),
    userStatistics: createUserStatistics(connection),
    punctuality: createPunctualityStore(connection),
    snapshots,
    analytics: createAnalyticsReads(connection),
    saveSnapshots: createSaveSnapshots({
      database,
      snapshots,
      published,
      users,
      retentionMs: collection.retentionMs,
    }),
    loginEvents,
    loginThrottle,
    rateLimits,
    /** What may be done only so often. */
    limits: {
      otp: rateLimits.bucket({ name: 'otp', points: config.OTP_PER_HOUR, windowMs: HOUR }),
      mailsOfSender: rateLimits.bucket({
        name: 'mails_of_sender',
        points: config.MAILS_PER_SENDER_PER_HOUR,
        windowMs: HOUR,
      }),
      /** Mails to one address over all senders, and those beyond: one in three minutes. */
      mailsToAddress: rateLimits.bucket({ name: 'mails_to_address', points: 10, windowMs: HOUR }),
      furtherMails: rateLimits.bucket({ name: 'further_mails', points: 1, windowMs: 3 * MINUTE }),
      /** Failed logins at Bluesky: of a user with one identifier, of a user, and with one identifier over all users. */
      blueskyGuess: rateLimits.bucket(
        { name: 'bluesky_guess', points: 5, windowMs: 15 * MINUTE },
        tooManyBlueskyLogins,
      ),
      blueskyUser: rateLimits.bucket({ name: 'bluesky_user', points: 20, windowMs: HOUR }, tooManyBlueskyLogins),
      blueskyIdentifier: rateLimits.bucket(
        { name: 'bluesky_identifier', points: 20, windowMs: HOUR },
        tooManyBlueskyLogins,
      ),
      resetMail: rateLimits.bucket({ name: 'reset_mail', points: config.RESET_MAILS_PER_HOUR, windowMs: HOUR }),
      captions: rateLimits.bucket(
        { name: 'captions', points: config.CAPTIONS_PER_HOUR, windowMs: HOUR },
        (wait) => `Too many caption requests. Try again in ${wait}.`,
      ),
      analyticsRefresh: rateLimits.bucket(
        {
          name: 'analytics_refresh',
          points: 1,
          windowMs: config.ANALYTICS_REFRESH_SECONDS * SECOND,
        },
        // Clients know this message.
        () => 'Too many requests',
      ),
      /** Failed refreshes that cost nothing, so that nobody has a failing platform asked without end. */
      failedRefreshes: rateLimits.bucket({
        name: 'failed_refreshes',
        points: 10,
        windowMs: config.ANALYTICS_REFRESH_SECONDS * SECOND,
      }),
    },
    planLimits: planLimits(config),
    passwords: createPasswordHasher(),
    refreshTokens: createRefreshTokens(config.REFRESH_TOKEN_SECRET),
    knownDevices: createKnownDevices(config.REFRESH_TOKEN_SECRET),
    oneTimeCodes: createOneTimeCodes(config.REFRESH_TOKEN_SECRET),
    addressCodes: createAddressCodeStore(connection, now),
    passwordResets: createPasswordResetStore(connection, now),
    connectStates: createConnectStates(config.OAUTH_STATE_SECRET),
    connectAttempts: createConnectAttemptStore(connection),
    loginAttempts: createLoginAttemptStore(connection),
    /** Null where it is not set up. */
    identity: identityOf(config),
    metrics,
    cipher,
    credentials,
    discardPrepared: createDiscardPrepared({ credentials, platforms, clock, logger }),
    storage,
    avatars: createAvatars({ storage, timeoutMs: 5 * SECOND }),
    platforms,
    orchestrator,
    backlogs,

    /** Aborts when this process was told to stop: from then on it is not ready for new work. */
    draining: draining.signal,
    readiness: createReadiness({ database, clock, draining: draining.signal }),
    drain: (): void => draining.abort(new Error('This process is stopping')),

    /** What keeps a post from going out now, as sentences (`GET /health/delivery`). */
    async deliveryHealth(): Promise<string[]> {
      const found = await Promise.all([
        orchestrator.problems(config.SWEEP_INTERVAL_MS, config.WORKER_SILENCE_MS),
        problemOf(database.ping(), 'The database does not answer'),
        problemOf(storage.ping(), 'Object storage does not answer'),
      ])
      return found.flat()
    },

    async close(): Promise<void> {
      await Promise.allSettled([orchestrator.close(), platforms.close(), push?.close(), mailer.close()])
      storage.close()
      await database.close()
    },
  }
}

function tooManyBlueskyLogins(wait: string): string {
  return `Too many failed Bluesky logins. Check the handle and the app password, then try again in ${wait}.`
}

function captionsOf(config: Config): CaptionProvider {
  if (config.CAPTIONS_URL === '') return createTemplateCaptions()
  return createProviderCaptions({
    url: config.CAPTIONS_URL,
    apiKey: config.CAPTIONS_API_KEY,
    model: config.CAPTIONS_MODEL,
    userAgent: userAgentOf(config),
    timeoutMs: config.CAPTIONS_TIMEOUT_MS,
  })
}

function identityOf(config: Config): IdentityProvider | null {
  if (config.GOOGLE_CLIENT_ID === '') return null
  return createIdentityProvider({
    issuerUrl: config.GOOGLE_ISSUER_URL,
    clientId: config.GOOGLE_CLIENT_ID,
    clientSecret: config.GOOGLE_CLIENT_SECRET,
    userAgent: userAgentOf(config),
    timeoutMs: 5 * SECOND,
  })
}

function paymentsOf(config: Config, { paymentCalled }: Pick<Metrics, 'paymentCalled'>): Payments | null {
  if (config.STRIPE_SECRET_KEY === '') return null
  return createPayments({
    secretKey: config.STRIPE_SECRET_KEY,
    url: config.STRIPE_API_URL,
    userAgent: userAgentOf(config),
    priceId: config.STRIPE_PRICE_ID,
    webhookSecrets: parseList(config.STRIPE_WEBHOOK_SECRETS),
    timeoutMs: config.PAYMENTS_TIMEOUT_MS,
    onCall: paymentCalled,
  })
}

function pushOf(config: Config): Push | null {
  if (config.FCM_PROJECT_ID === '') return null
  return createPush({
    projectId: config.FCM_PROJECT_ID,
    clientEmail: config.FCM_CLIENT_EMAIL,
    privateKey: config.FCM_PRIVATE_KEY,
    url: config.FCM_URL,
    tokenUrl: config.FCM_TOKEN_URL,
    userAgent: userAgentOf(config),
  })
}

function problemOf(check: Promise<void>, problem: string): Promise<string[]> {
  return check.then(
    () => [],
    () => [problem],
  )
}

export type Context = Awaited<ReturnType<typeof createContext>>

/** The context of the API, whose app issues the access tokens (`api/plugins/access-tokens.ts`). */
export type ApiContext = Context & { accessTokens: AccessTokens }
