import type { EventType } from '../../domain/events/events.ts'
import { webhookCreated } from '../../domain/notifications/notifications.ts'
import { HEALTHY, webhookLimitReached, type Webhook } from '../../domain/webhooks/webhooks.ts'
import { newId } from '../../store/shared/schema.ts'
import { assertAllowedUrl } from './webhook-url.ts'
import { createWebhookSecret } from './webhook-secrets.ts'
import type { CommandContext } from '../context.ts'

interface CreateWebhook {
  userId: string
  url: string
  description: string
  /** Empty for all types. */
  events: EventType[]
}

/**
 * Creates a webhook, which gets the events from now on, and notifies its owner. The returned `secret` is stored encrypted.
 * @throws ServiceError VALIDATION_FAILED, RATE_LIMITED, WEBHOOK_LIMIT_REACHED
 */
export async function createWebhook(
  deps: CommandContext,
  { userId, url, description, events }: CreateWebhook,
): Promise<{ webhook: Webhook; secret: string }> {
  assertAllowedUrl(deps.webhookSender, url)
  await deps.limits.webhookUrl.take(userId)
  const _id = newId()
  const { secret, sealed } = createWebhookSecret(deps.cipher, _id)
  const webhook: Webhook = {
    ...{ _id, userId, url, description, events },
    sealedSecret: sealed,
    oldSecret: null,
    isEnabled: true,
    disabled: null,
    cursor: await deps.events.latestSequence(userId),
    health: HEALTHY,
    wakeAt: null,
    revision: 0,
    createdAt: deps.clock.now(),
  }
  const records = await deps.notifications.toRecords([webhookCreated(webhook)])
  await deps.database.transaction(async (session) => {
    // Locks the user's record, so that the limit holds for concurrent requests.
    await deps.users.raiseAnalyticsVersion(userId, session)
    if (!(await deps.webhooks.insert(webhook, session))) throw webhookLimitReached()
    await deps.notifications.insert(records, session)
  }, userId)
  deps.notifications.beginSending(records)
  return { webhook, secret }
}
