import { LRUCache } from 'lru-cache'
import type { Clients } from '../commands/parts.ts'
import { createServerApplications } from '../commands/accounts/server-applications.ts'
import {
  createCaptionProvider,
  createConfiguredOrchestrator,
  createConfiguredPages,
  createConfiguredStorage,
  createConfiguredWebhookSender,
  createGoogleLogin,
  createPaymentsIfConfigured,
  createPushIfConfigured,
} from '../config/clients.ts'
import { platformSettings } from '../config/platforms.ts'
import type { Config } from '../config/schema.ts'
import { toUserAgent } from '../config/user-agent.ts'
import { MINUTE, SECOND } from '../domain/shared/times.ts'
import type { CaptionProvider } from '../integrations/captions/captions.ts'
import { createLargeTexts } from '../integrations/large-texts/large-texts.ts'
import { createMailer } from '../integrations/mail/mail.ts'
import type { Payments } from '../integrations/payments/payments.ts'
import type { Push } from '../integrations/push/push.ts'
import { createAvatars } from '../integrations/storage/avatars.ts'
import { createMediaSource } from '../integrations/storage/media-source.ts'
import type { PublishOrchestrator } from '../integrations/temporal/orchestrator.ts'
import type { Logger } from '../logger.ts'
import { instrumentPlatforms } from '../platforms/instrumented.ts'
import { createPlatformRegistry, type PlatformRegistry } from '../platforms/registry.ts'
import { createTokenCipher } from '../security/token-cipher.ts'
import type { Metrics } from '../telemetry/metrics.ts'
import { createQuotaObserver } from '../telemetry/quota-observer.ts'
import type { Stores } from '../store/stores.ts'

/** Clients that replace the configured ones. */
export interface ClientOverrides {
  orchestrator?: PublishOrchestrator
  push?: Push
  captions?: CaptionProvider
  payments?: Payments
}

interface ClientsOptions {
  config: Config
  logger: Logger
  metrics: Metrics
  overrides: ClientOverrides
}

/** Creates the clients of other servers. Temporal and storage are connected when first used. */
export function createClients({ config, logger, metrics, overrides }: ClientsOptions): Clients {
  const storage = createConfiguredStorage(config)
  return {
    orchestrator: overrides.orchestrator ?? createConfiguredOrchestrator(config, { logger, metrics }),
    storage,
    media: createMediaSource(storage),
    avatars: createAvatars({ storage, timeoutMs: 5 * SECOND }),
    mailer: createMailer({ url: config.SMTP_URL, from: config.MAIL_FROM }),
    push: overrides.push ?? createPushIfConfigured(config),
    webhookSender: createConfiguredWebhookSender(config),
    pages: createConfiguredPages(config),
    payments: overrides.payments ?? createPaymentsIfConfigured(config, metrics),
    captions: overrides.captions ?? createCaptionProvider(config),
    identity: createGoogleLogin(config),
    largeTexts: createLargeTexts(),
    cipher: createTokenCipher(config.TOKEN_ENCRYPTION_KEYS, reportUnreadable(logger)),
  }
}

/** Logs that secrets of a key cannot be read, once a minute for each key. */
function reportUnreadable(logger: Logger): (keyId: string) => void {
  const reported = new LRUCache<string, true>({ max: 100, ttl: MINUTE })
  return (keyId) => {
    if (reported.has(keyId)) return
    reported.set(keyId, true)
    logger.error({ keyId }, 'stored secret unreadable: check TOKEN_ENCRYPTION_KEYS')
  }
}

interface PlatformsOptions {
  config: Config
  logger: Logger
  metrics: Metrics
  stores: Stores
  clients: Clients
  registry: PlatformRegistry | undefined
}

/** Creates the adapters of the configured platforms, unless a registry replaces them. */
export function createPlatforms({ config, logger, metrics, stores, clients, registry }: PlatformsOptions) {
  const created =
    registry ??
    createPlatformRegistry({
      ...platformSettings(config),
      publishTimeoutMs: config.PUBLISH_TIMEOUT_MS,
      userAgent: toUserAgent(config),
      unansweredInFlightMs: config.UNANSWERED_CALL_SETTLE_MS,
      facts: stores.platformFacts,
      quotas: {
        windows: stores.callWindows,
        publications: stores.publicationLedger,
        observer: createQuotaObserver({ logger, metrics }),
      },
      applications: createServerApplications({ store: stores.serverApplications, cipher: clients.cipher }),
      media: clients.media,
      pages: clients.pages,
    })
  return instrumentPlatforms(created, metrics)
}
