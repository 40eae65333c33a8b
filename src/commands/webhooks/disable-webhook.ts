import { webhookDisabledByService } from '../../domain/notifications/notifications.ts'
import type { DisabledReason, Webhook } from '../../domain/webhooks/webhooks.ts'
import type { CommandContext } from '../context.ts'

/**
 * Disables a webhook and ends its pending deliveries. The owner is notified unless the reason is `user`.
 * @returns false when it is disabled already, or gone
 */
export async function disableWebhook(deps: CommandContext, webhook: Webhook, reason: DisabledReason): Promise<boolean> {
  const at = deps.clock.now()
  const notifications = reason === 'user' ? [] : [webhookDisabledByService(webhook, reason, at)]
  const records = await deps.notifications.toRecords(notifications)
  const isDisabled = await deps.database.transaction(async (session) => {
    if (!(await deps.webhooks.disable(webhook, reason, at, session))) return false
    await deps.webhookDeliveries.failPending(webhook, session)
    await deps.notifications.insert(records, session)
    return true
  })
  if (isDisabled) deps.notifications.beginSending(records)
  return isDisabled
}
