import type { Clock } from '../clock.ts'
import { createAccountCredentials } from '../commands/accounts/account-credentials.ts'
import { createAccountLimit } from '../commands/accounts/account-limit.ts'
import { paymentBacklog } from '../commands/billing/payment-backlog.ts'
import { createSyncSubscription } from '../commands/billing/sync-subscription.ts'
import { importBacklog } from '../commands/imports/change-import.ts'
import { mailBacklog } from '../commands/notifications/queue-mail.ts'
import { pushBacklog } from '../commands/notifications/start-pushes.ts'
import type { EventRelay } from '../commands/events/relay-events.ts'
import type { BackgroundBacklog } from '../commands/shared/background-backlog.ts'
import { createSealedSecrets } from '../commands/shared/sealed-secrets.ts'
import { createDiscardPrepared } from '../commands/posts/discard-prepared.ts'
import { createStartQueue } from '../commands/posts/start-queue.ts'
import { createStorePost } from '../commands/posts/store-post.ts'
import { erasureBacklog } from '../commands/users/erase-account.ts'
import { createWakeWebhooks, webhookBacklog } from '../commands/webhooks/wake-webhooks.ts'
import { createLimits } from '../config/limits.ts'
import { accountLimits, burstLimits, planLimits, planWeights } from '../config/plans.ts'
import type { Config } from '../config/schema.ts'
import { SECOND } from '../domain/shared/times.ts'
import type { Logger } from '../logger.ts'
import type { PlatformRegistry } from '../platforms/registry.ts'
import { createConnectStates } from '../security/connect-states.ts'
import { createKnownDevices } from '../security/known-devices.ts'
import { createOneTimeCodes } from '../security/one-time-codes.ts'
import { createPasswordHasher } from '../security/password-hasher.ts'
import { createRefreshTokens } from '../security/refresh-tokens.ts'
import type { Database } from '../store/shared/database.ts'
import type { Metrics } from '../telemetry/metrics.ts'
import type { Clients } from './clients.ts'
import type { Stores } from './stores.ts'

interface ServicesOptions {
  config: Config
  logger: Logger
  metrics: Metrics
  clock: Clock
  database: Database
  stores: Stores
  clients: Clients
  platforms: PlatformRegistry
  eventRelay: EventRelay
}

/** Creates what the commands of a process share: queues, limits, credentials and secrets. */
export function createServices({ stores, clients, config, ...parts }: ServicesOptions) {
  const { clock, logger, platforms } = parts
  const shared = { ...parts, ...stores, ...clients }
  const limitsOfPlans = planLimits(config)
  const weights = planWeights(config)
  const credentials = createAccountCredentials({ ...shared, adapters: platforms })
  const wakeWebhooks = createWakeWebhooks(shared)
  stores.events.onAppended(wakeWebhooks.wakeUsers)
  /** Records whose background work the sweeper starts when no other process did. */
  const backlogs: BackgroundBacklog[] = [
    mailBacklog(shared),
    pushBacklog(shared),
    erasureBacklog(shared),
    paymentBacklog(shared),
    importBacklog(shared),
    webhookBacklog(shared),
  ]

  return {
    credentials,
    sealedSecrets: createSealedSecrets(shared),
    findAccountLimit: createAccountLimit({ users: stores.users, limits: accountLimits(config) }),
    storePost: createStorePost(shared),
    startQueue: createStartQueue({ ...shared, planWeights: weights }),
    discardPrepared: createDiscardPrepared({ credentials, platforms, clock, logger }),
    wakeWebhooks,
    syncSubscription: createSyncSubscription({ ...shared, planLimits: limitsOfPlans }),
    backlogs,

    limits: createLimits(stores.rateLimits, config),
    planLimits: limitsOfPlans,
    planWeights: weights,
    burstLimits: burstLimits(config),
    preflightLeadMs: config.PREFLIGHT_LEAD_SECONDS * SECOND,

    passwords: createPasswordHasher(),
    refreshTokens: createRefreshTokens(config.REFRESH_TOKEN_SECRET),
    knownDevices: createKnownDevices(config.REFRESH_TOKEN_SECRET),
    oneTimeCodes: createOneTimeCodes(config.REFRESH_TOKEN_SECRET),
    connectStates: createConnectStates(config.OAUTH_STATE_SECRET),
  }
}
