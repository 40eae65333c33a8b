import type { Clock } from '../clock.ts'
import type { CaptionProvider } from '../integrations/captions/captions.ts'
import type { IdentityProvider } from '../integrations/openid/openid.ts'
import type { LargeTexts } from '../integrations/large-texts/large-texts.ts'
import type { createMailer } from '../integrations/mail/mail.ts'
import type { Pages } from '../integrations/pages/pages.ts'
import type { Payments } from '../integrations/payments/payments.ts'
import type { Push } from '../integrations/push/push.ts'
import type { Avatars } from '../integrations/storage/avatars.ts'
import type { createMediaSource } from '../integrations/storage/media-source.ts'
import type { ObjectStorage } from '../integrations/storage/storage.ts'
import type { PublishOrchestrator } from '../integrations/temporal/orchestrator.ts'
import type { WebhookSender } from '../integrations/webhooks/webhook-sender.ts'
import type { Logger } from '../logger.ts'
import type { PlatformRegistry } from '../platforms/registry.ts'
import type { TokenCipher } from '../security/token-cipher.ts'
import type { Database } from '../store/shared/database.ts'
import type { Stores } from '../store/stores.ts'
import type { Metrics } from '../telemetry/metrics.ts'

/** The clients of other servers that a process has. */
export interface Clients {
  orchestrator: PublishOrchestrator
  storage: ObjectStorage
  media: ReturnType<typeof createMediaSource>
  avatars: Avatars
  mailer: ReturnType<typeof createMailer>
  /** Null where push is not configured. */
  push: Push | null
  webhookSender: WebhookSender
  pages: Pages
  /** Null where payments are not configured. */
  payments: Payments | null
  captions: CaptionProvider
  /** Null where the login with Google is not configured. */
  identity: IdentityProvider | null
  largeTexts: LargeTexts
  cipher: TokenCipher
}

/** The parts from which the services of a process are built. */
export interface Parts extends Stores, Clients {
  clock: Clock
  logger: Logger
  metrics: Metrics
  database: Database
  platforms: PlatformRegistry
}
