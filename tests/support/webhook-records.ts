import { createWebhook } from '../../src/commands/webhooks/create-webhook.ts'
import { sendTestEvent } from '../../src/commands/webhooks/redeliver.ts'
import type { Context } from '../../src/context.ts'

/** Returns the ids of a webhook of the user and of a delivery. Both are created once, because their number is limited. */
export async function storeWebhook(context: Context, userId: string) {
  const [stored] = await context.webhooks.listOf(userId)
  if (stored) {
    const deliveries = context.database.connection.collection<{ _id: string; webhookId: string }>('webhookDeliveries')
    const found = await deliveries.findOne({ webhookId: stored._id })
    return { webhookId: stored._id, deliveryId: found!._id }
  }
  const { webhook } = await createWebhook(context, {
    userId,
    url: 'https://hooks.example.com/postonce',
    description: '',
    events: [],
  })
  const delivery = await sendTestEvent(context, { userId, webhookId: webhook._id })
  return { webhookId: webhook._id, deliveryId: delivery._id }
}
