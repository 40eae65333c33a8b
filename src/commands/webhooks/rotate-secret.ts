import { ServiceError } from '../../domain/shared/service-error.ts'
import { OLD_SECRET_LIFE_MS, webhookNotFound, type Webhook } from '../../domain/webhooks/webhooks.ts'
import { createWebhookSecret } from './webhook-secrets.ts'
import type { CommandContext } from '../context.ts'

/**
 * Replaces the signing secret. The one before signs as well for 24 hours; an even older one ends now.
 * @throws ServiceError NOT_FOUND; BAD_REQUEST for all but one of concurrent rotations
 */
export async function rotateSecret(
  { cipher, clock, webhooks }: CommandContext,
  userId: string,
  webhookId: string,
): Promise<{ webhook: Webhook; secret: string }> {
  const found = await webhooks.find(userId, webhookId)
  if (!found) throw webhookNotFound()
  const { secret, sealed } = createWebhookSecret(cipher, webhookId)
  const validUntil = new Date(clock.now().getTime() + OLD_SECRET_LIFE_MS)
  const oldSecret = { sealed: found.sealedSecret, validUntil }
  const webhook = await webhooks.rotate(found, { sealedSecret: sealed, oldSecret })
  if (!webhook) {
    throw new ServiceError('BAD_REQUEST', 'Another request has rotated the secret meanwhile. Read the webhook again.')
  }
  return { webhook, secret }
}
