import { changedSinceRead } from '../../domain/shared/revisions.ts'
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
  /** The revisions to which the change applies; undefined for any. */
  revisions: readonly number[] | undefined
}

/**
 * Changes a webhook. A webhook that is enabled gets the events from now on; `redeliverSince` sends the ones before.
 * @throws ServiceError NOT_FOUND, VALIDATION_FAILED, RATE_LIMITED, PRECONDITION_FAILED
 */
export async function changeWebhook(
  deps: CommandContext,
  { userId, webhookId, change, isEnabled, revisions }: ChangeWebhook,
): Promise<Webhook> {
  if (change.url !== undefined) {
    assertAllowedUrl(deps.webhookSender, change.url)
    await deps.limits.webhookUrl.take(userId)
  }
  const isChange = revisions !== undefined || Object.keys(change).length > 0
  const changed = isChange ? await deps.webhooks.change({ _id: webhookId, userId }, change, revisions) : null
  const webhook = changed ?? (await deps.webhooks.find(userId, webhookId))
  if (!webhook) throw webhookNotFound()
  if (revisions && !changed) throw changedSinceRead()
  // The workflow may be waiting for the end of a pause that the old receiver caused.
  if (change.url !== undefined && webhook.isEnabled) deps.wakeWebhooks.wake(webhook)
  if (isEnabled === undefined || isEnabled === webhook.isEnabled) return webhook
  if (isEnabled) await deps.webhooks.enable(webhook, await deps.events.latestSequence(userId))
  else await disableWebhook(deps, webhook, 'user')
  return (await deps.webhooks.find(userId, webhookId)) ?? webhook
}
