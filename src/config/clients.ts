import { parseList } from '../domain/shared/lists.ts'
import { SECOND } from '../domain/shared/times.ts'
import { EXCERPT_BYTES } from '../domain/webhooks/deliveries.ts'
import {
  createProviderCaptions,
  createTemplateCaptions,
  type CaptionProvider,
} from '../integrations/captions/captions.ts'
import { createIdentityProvider, type IdentityProvider } from '../integrations/openid/openid.ts'
import { createPages, type Pages } from '../integrations/pages/pages.ts'
import { createPayments, type Payments } from '../integrations/payments/payments.ts'
import { createPush, type Push } from '../integrations/push/push.ts'
import { createObjectStorage, type ObjectStorage } from '../integrations/storage/storage.ts'
import { createWebhookSender, type WebhookSender } from '../integrations/webhooks/webhook-sender.ts'
import { createOrchestrator, type PublishOrchestrator } from '../integrations/temporal/orchestrator.ts'
import type { Logger } from '../logger.ts'
import { createHttpClient } from '../platforms/shared/http.ts'
import { createPublicServers } from '../platforms/shared/public-servers.ts'
import type { Metrics } from '../telemetry/metrics.ts'
import type { Config } from './schema.ts'
import { toUserAgent } from './user-agent.ts'

interface OrchestratorDeps {
  logger: Logger
  metrics: Metrics
}

export function createConfiguredOrchestrator(
  config: Config,
  { logger, metrics }: OrchestratorDeps,
): PublishOrchestrator {
  return createOrchestrator({
    address: config.TEMPORAL_ADDRESS,
    namespace: config.TEMPORAL_NAMESPACE,
    // The sweeper repeats the starts that were not acknowledged.
    onUnreachable: (error) => logger.warn({ err: error }, 'temporal call not acknowledged'),
    // `npm run setup` creates them.
    onUnknownAttributes: (error) => logger.warn({ err: error }, 'search attributes unknown to temporal'),
    onTerminated(workflow) {
      metrics.stuckWorkflowTerminated(workflow.type)
      logger.error(workflow, 'stuck workflow terminated')
    },
  })
}

export function createConfiguredStorage(config: Config): ObjectStorage {
  return createObjectStorage({
    endpoint: config.S3_ENDPOINT,
    region: config.S3_REGION,
    bucket: config.S3_BUCKET,
    accessKeyId: config.S3_ACCESS_KEY_ID,
    secretAccessKey: config.S3_SECRET_ACCESS_KEY,
    publicUrl: config.S3_PUBLIC_URL,
  })
}

/** Creates the configured caption provider, or the built-in templates without one. */
export function createCaptionProvider(config: Config): CaptionProvider {
  if (config.CAPTIONS_URL === '') return createTemplateCaptions()
  return createProviderCaptions({
    url: config.CAPTIONS_URL,
    apiKey: config.CAPTIONS_API_KEY,
    model: config.CAPTIONS_MODEL,
    userAgent: toUserAgent(config),
    timeoutMs: config.CAPTIONS_TIMEOUT_MS,
  })
}

/** Returns null when the login with Google is not configured. */
export function createGoogleLogin(config: Config): IdentityProvider | null {
  if (config.GOOGLE_CLIENT_ID === '') return null
  return createIdentityProvider({
    issuerUrl: config.GOOGLE_ISSUER_URL,
    clientId: config.GOOGLE_CLIENT_ID,
    clientSecret: config.GOOGLE_CLIENT_SECRET,
    userAgent: toUserAgent(config),
    timeoutMs: 5 * SECOND,
  })
}

/** Returns null when payments are not configured. */
export function createPaymentsIfConfigured(config: Config, { paymentCallEnded }: Metrics): Payments | null {
  if (config.STRIPE_SECRET_KEY === '') return null
  return createPayments({
    secretKey: config.STRIPE_SECRET_KEY,
    url: config.STRIPE_API_URL,
    userAgent: toUserAgent(config),
    priceId: config.STRIPE_PRICE_ID,
    webhookSecrets: parseList(config.STRIPE_WEBHOOK_SECRETS),
    timeoutMs: config.PAYMENTS_TIMEOUT_MS,
    onCall: paymentCallEnded,
  })
}

/** Returns null when push is not configured. */
export function createPushIfConfigured(config: Config): Push | null {
  if (config.FCM_PROJECT_ID === '') return null
  return createPush({
    projectId: config.FCM_PROJECT_ID,
    clientEmail: config.FCM_CLIENT_EMAIL,
    privateKey: config.FCM_PRIVATE_KEY,
    url: config.FCM_URL,
    tokenUrl: config.FCM_TOKEN_URL,
    userAgent: toUserAgent(config),
  })
}

/** Connections to one receiver's server, which webhooks of many users may share. A hanging receiver must not take them all. */
const RECEIVER_CONNECTIONS = 1_000

/** Connections to one server for the pages and files that users name. */
const PAGE_CONNECTIONS = 16

/** Creates a client that reads the beginnings of what servers send that users name (docs/design/security.md#servers-that-users-name). */
function createClientOfNamed(config: Config, limits: { connections: number; maxResponseBytes?: number }) {
  const { guard, isAllowed } = createPublicServers({
    configured: [],
    allowedPrivate: parseList(config.ALLOWED_PRIVATE_SERVERS),
  })
  const http = createHttpClient({ userAgent: toUserAgent(config), readsExcerpts: true, guard, ...limits })
  return { http, isAllowedOrigin: isAllowed }
}

/** Creates the client for receivers of events. */
export function createConfiguredWebhookSender(config: Config): WebhookSender {
  const limits = { connections: RECEIVER_CONNECTIONS, maxResponseBytes: EXCERPT_BYTES }
  return createWebhookSender({ ...createClientOfNamed(config, limits), timeoutMs: config.WEBHOOK_TIMEOUT_MS })
}

/** Creates the reader of pages and files that users name. */
export function createConfiguredPages(config: Config): Pages {
  return createPages(createClientOfNamed(config, { connections: PAGE_CONNECTIONS }))
}
