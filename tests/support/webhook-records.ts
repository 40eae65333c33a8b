import { createWebhook } from '../../src/commands/webhooks/create-webhook.ts'
import { sendTestEvent } from '../../src/commands/webhooks/redeliver.ts'
import type { Context } from '../../src/context.ts'

/** Stores a webhook with a pending delivery. Returns the ids of both. */
export async function storeWebhook(context: Context, userId: string) {
  const { webhook } = await createWebhook(context, {
    userId,
    url: 'https://hooks.example.com/postonce',
    description: '',
    events: [],
  })
  const delivery = await sendTestEvent(context, { userId, webhookId: webhook._id })
  return { webhookId: webhook._id, deliveryId: delivery._id }
}
