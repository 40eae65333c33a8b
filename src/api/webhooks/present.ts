import type { Static } from '@sinclair/typebox'
import { presentEvent } from '../../domain/events/events.ts'
import { EXCERPT_BYTES, type WebhookDelivery } from '../../domain/webhooks/deliveries.ts'
import type { Webhook } from '../../domain/webhooks/webhooks.ts'
import { toETag } from '../shared/etags.ts'
import { toInstant } from '../shared/schemas/common.ts'
import type { WebhookDeliverySchema, WebhookSchema } from './schema.ts'

/** Converts a webhook without its secrets. */
export function presentWebhook(webhook: Webhook, now: Date): Static<typeof WebhookSchema> {
  const { _id, url, events, description, isEnabled, disabled, health, oldSecret, createdAt } = webhook
  const isOldValid = oldSecret !== null && oldSecret.validUntil > now
  return {
    ...{ id: _id, url, events, description },
    enabled: isEnabled,
    disabledReason: disabled?.reason ?? null,
    disabledAt: toInstant(disabled?.at ?? null),
    failingSince: toInstant(health.failingSince),
    pausedUntil: health.pausedUntil !== null && health.pausedUntil > now ? toInstant(health.pausedUntil) : null,
    lastDeliveredAt: toInstant(health.lastSuccessAt),
    oldSecretValidUntil: isOldValid ? toInstant(oldSecret.validUntil) : null,
    createdAt: createdAt.toISOString(),
    etag: toETag(webhook),
  }
}

export function presentDelivery(delivery: WebhookDelivery): Static<typeof WebhookDeliverySchema> {
  const { _id, event, state, attemptCount, attempts, nextAttemptAt, createdAt } = delivery
  return {
    id: _id,
    eventId: event.id,
    eventType: event.type,
    sequence: event.sequence,
    ...{ state, attemptCount },
    nextAttemptAt: state === 'pending' ? nextAttemptAt.toISOString() : null,
    request: JSON.stringify(presentEvent(event)).slice(0, EXCERPT_BYTES),
    attempts: attempts.map(({ at, ...attempt }) => ({ at: at.toISOString(), ...attempt })),
    createdAt: createdAt.toISOString(),
  }
}
