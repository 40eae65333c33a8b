import { webhookNotFound } from '../../domain/webhooks/webhooks.ts'
import type { WebhookDeliveryStore } from '../../store/webhooks/deliveries.ts'
import type { WebhookStore } from '../../store/webhooks/webhooks.ts'
import type { WakeWebhooks } from './wake-webhooks.ts'

interface DeleteWebhookDeps {
  webhooks: WebhookStore
  webhookDeliveries: WebhookDeliveryStore
  wakeWebhooks: WakeWebhooks
}

/**
 * Deletes a webhook with its log, and ends its workflow.
 * @throws ServiceError NOT_FOUND, also for another user's webhook
 */
export async function deleteWebhook(
  { webhooks, webhookDeliveries, wakeWebhooks }: DeleteWebhookDeps,
  userId: string,
  webhookId: string,
): Promise<void> {
  if (!(await webhooks.remove(userId, webhookId))) throw webhookNotFound()
  await webhookDeliveries.removeOf({ _id: webhookId, userId })
  // A workflow that waits for a retry ends now.
  wakeWebhooks.wake({ _id: webhookId, userId })
}
