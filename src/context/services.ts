import { createAccountCredentials } from '../commands/accounts/account-credentials.ts'
import { createAccountLimit } from '../commands/accounts/account-limit.ts'
import { createAskPublicationQuota } from '../commands/accounts/ask-publication-quota.ts'
import type { Parts } from '../commands/parts.ts'
import { paymentBacklog } from '../commands/billing/payment-backlog.ts'
import { createSyncSubscription } from '../commands/billing/sync-subscription.ts'
import { importBacklog } from '../commands/imports/change-import.ts'
import { createFindRoutes } from '../commands/notifications/find-routes.ts'
import { mailBacklog } from '../commands/notifications/queue-mail.ts'
import { pushBacklog } from '../commands/notifications/start-sending.ts'
import { createEventRelay } from '../commands/events/relay-events.ts'
import type { BackgroundBacklog } from '../commands/shared/background-backlog.ts'
import { createSealedSecrets } from '../commands/shared/sealed-secrets.ts'
import { changeBacklog } from '../commands/posts/change-published.ts'
import { createDiscardPrepared } from '../commands/posts/discard-prepared.ts'
import { createStartQueue } from '../commands/posts/start-queue.ts'
import { createStorePost } from '../commands/posts/store-post.ts'
import { erasureBacklog } from '../commands/users/erase-account.ts'
import { createWakeWebhooks, webhookBacklog } from '../commands/webhooks/wake-webhooks.ts'
import { collectionSettings } from '../config/analytics.ts'
import { createLimits } from '../config/limits.ts'
import { accountLimits, burstLimits, planLimits, planWeights } from '../config/plans.ts'
import type { Config } from '../config/schema.ts'
import { SECOND } from '../domain/shared/times.ts'
import { createConnectStates } from '../security/connect-states.ts'
import { createKnownDevices } from '../security/known-devices.ts'
import { createOneTimeCodes } from '../security/one-time-codes.ts'
import { createPasswordHasher } from '../security/password-hasher.ts'
import { createRefreshTokens } from '../security/refresh-tokens.ts'

/** Creates what the commands of a process share: queues, limits, credentials and secrets. */
export function createServices(config: Config, parts: Parts) {
  const limitsOfPlans = planLimits(config)
  const weights = planWeights(config)
  const credentials = createAccountCredentials(parts)
  const limits = createLimits(parts.rateLimits, config)
  const eventRelay = createEventRelay(parts)
  const wakeWebhooks = createWakeWebhooks(parts)
  parts.events.onAppended(wakeWebhooks.wakeUsers)
  /** Records whose background work the sweeper starts when no other process did. */
  const backlogs: BackgroundBacklog[] = [
    mailBacklog(parts),
    pushBacklog(parts),
    erasureBacklog(parts),
    paymentBacklog(parts),
    importBacklog(parts),
    webhookBacklog(parts),
    changeBacklog(parts),
  ]

  return {
    credentials,
    eventRelay,
    sealedSecrets: createSealedSecrets(parts),
    findAccountLimit: createAccountLimit(parts.users, accountLimits(config)),
    askPublicationQuota: createAskPublicationQuota(parts),
    storePost: createStorePost({ ...parts, eventRelay }),
    startQueue: createStartQueue(parts, weights),
    discardPrepared: createDiscardPrepared({ ...parts, credentials }),
    wakeWebhooks,
    syncSubscription: createSyncSubscription({ ...parts, planLimits: limitsOfPlans }),
    backlogs,
    findRoutes: createFindRoutes({
      ...parts,
      limit: limits.notificationMails,
      mailLinks: config.SMTP_URL === '' ? null : config.FRONTEND_URL,
    }),

    limits,
    planLimits: limitsOfPlans,
    planWeights: weights,
    burstLimits: burstLimits(config),
    collection: collectionSettings(config),
    preflightLeadMs: config.PREFLIGHT_LEAD_SECONDS * SECOND,

    passwords: createPasswordHasher(),
    refreshTokens: createRefreshTokens(config.REFRESH_TOKEN_SECRET),
    knownDevices: createKnownDevices(config.REFRESH_TOKEN_SECRET),
    oneTimeCodes: createOneTimeCodes(config.REFRESH_TOKEN_SECRET),
    connectStates: createConnectStates(config.OAUTH_STATE_SECRET),
  }
}
