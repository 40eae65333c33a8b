import { webhookNotFound, type Webhook } from '../../domain/webhooks/webhooks.ts'
import type { WebhookChange } from '../../store/webhooks/webhooks.ts'
import { disableWebhook } from './disable-webhook.ts'
import { assertAllowedUrl } from './webhook-url.ts'
import type { CommandContext } from '../context.ts'

interface ChangeWebhook {
  userId: string
  webhookId: string
  change: WebhookChange
  isEnabled: boolean | undefined
}

/**
 * Changes a webhook. A webhook that is enabled gets the events from now on; `redeliverSince` sends the ones before.
 * @throws ServiceError NOT_FOUND, VALIDATION_FAILED, RATE_LIMITED
 */
export async function changeWebhook(
  deps: CommandContext,
  { userId, webhookId, change, isEnabled }: ChangeWebhook,
): Promise<Webhook> {
  if (change.url !== undefined) {
    assertAllowedUrl(deps.webhookSender, change.url)
    await deps.limits.webhookUrl.take(userId)
  }
  const changed = Object.keys(change).length > 0 ? await deps.webhooks.change(userId, webhookId, change) : null
  const webhook = changed ?? (await deps.webhooks.find(userId, webhookId))
  if (!webhook) throw webhookNotFound()
  // The workflow may be waiting for the end of a pause that the old receiver caused.
  if (change.url !== undefined && webhook.isEnabled) deps.wakeWebhooks.wake(webhook)
  if (isEnabled === undefined || isEnabled === webhook.isEnabled) return webhook
  if (isEnabled) await deps.webhooks.enable(webhook, await deps.events.latestSequence(userId))
  else await disableWebhook(deps, webhook, 'user')
  return (await deps.webhooks.find(userId, webhookId)) ?? webhook
}
