import { randomUUID } from 'node:crypto'
import { ServiceError } from '../../domain/shared/service-error.ts'
import { TEST_EVENT_TYPE, webhookDisabled, webhookNotFound, type Webhook } from '../../domain/webhooks/webhooks.ts'
import type { WebhookDelivery } from '../../domain/webhooks/deliveries.ts'
import type { CommandContext } from '../context.ts'

/** @throws ServiceError NOT_FOUND, WEBHOOK_DISABLED */
async function getEnabled({ webhooks }: CommandContext, userId: string, webhookId: string): Promise<Webhook> {
  const webhook = await webhooks.find(userId, webhookId)
  if (!webhook) throw webhookNotFound()
  if (!webhook.isEnabled) throw webhookDisabled()
  return webhook
}

/**
 * Sends an event once more, with the same id.
 * @throws ServiceError NOT_FOUND, WEBHOOK_DISABLED
 */
export async function redeliver(
  deps: CommandContext,
  { userId, webhookId, deliveryId }: { userId: string; webhookId: string; deliveryId: string },
): Promise<WebhookDelivery> {
  const webhook = await getEnabled(deps, userId, webhookId)
  const now = deps.clock.now()
  const delivery = await deps.webhookDeliveries.requestAgain(webhook, deliveryId, now)
  if (!delivery) throw new ServiceError('NOT_FOUND', 'Delivery not found')
  await wake(deps, webhook, now)
  return delivery
}

/**
 * Sends all events of the feed since an instant once more, then the new ones.
 * @throws ServiceError NOT_FOUND, WEBHOOK_DISABLED
 */
export async function redeliverSince(
  deps: CommandContext,
  { userId, webhookId, since }: { userId: string; webhookId: string; since: Date },
): Promise<void> {
  const webhook = await getEnabled(deps, userId, webhookId)
  const sequence = await deps.events.sequenceBefore(userId, since)
  if (!(await deps.webhooks.rewind(webhook, sequence, deps.clock.now()))) throw webhookDisabled()
  deps.wakeWebhooks.wake(webhook)
}

/**
 * Sends an event of the type `webhook.test`.
 * @throws ServiceError NOT_FOUND, WEBHOOK_DISABLED, RATE_LIMITED
 */
export async function sendTestEvent(
  deps: CommandContext,
  { userId, webhookId }: { userId: string; webhookId: string },
): Promise<WebhookDelivery> {
  const webhook = await getEnabled(deps, userId, webhookId)
  await deps.limits.webhookTest.take(userId)
  const occurredAt = deps.clock.now()
  const id = `evt_test-${randomUUID()}`
  const event = { id, sequence: 0, type: TEST_EVENT_TYPE, occurredAt, data: { webhookId } } as const
  await deps.webhookDeliveries.request(webhook, [event], occurredAt)
  const delivery = await deps.webhookDeliveries.findByEvent(webhook, id)
  if (!delivery) throw webhookNotFound()
  await wake(deps, webhook, occurredAt)
  return delivery
}

/** The stored time lets the sweeper wake a workflow that Temporal did not. */
async function wake({ webhooks, wakeWebhooks }: CommandContext, webhook: Webhook, now: Date): Promise<void> {
  await webhooks.setWakeAt(webhook, now)
  wakeWebhooks.wake(webhook)
}
