import { webhookNotFound } from '../../domain/webhooks/webhooks.ts'
import type { CommandContext } from '../context.ts'

/**
 * Deletes a webhook with its log, and ends its workflow.
 * @throws ServiceError NOT_FOUND, also for another user's webhook
 */
export async function deleteWebhook(
  { webhooks, webhookDeliveries, wakeWebhooks }: CommandContext,
  userId: string,
  webhookId: string,
): Promise<void> {
  if (!(await webhooks.remove(userId, webhookId))) throw webhookNotFound()
  await webhookDeliveries.removeOf({ _id: webhookId, userId })
  // A workflow that waits for a retry ends now.
  wakeWebhooks.wake({ _id: webhookId, userId })
}
