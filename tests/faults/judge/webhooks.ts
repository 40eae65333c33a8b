import type { Evidence, Violation, WebhookEvidence } from './evidence.ts'

/** I10: every event of the feed reaches the webhook at least once, with the id of the feed and a valid signature. */
export function judgeWebhooks({ events, webhooks }: Evidence): Violation[] {
  if (events === null) return []
  const byUser = Map.groupBy(events, ({ userId }) => userId)
  return webhooks
    .flatMap((webhook) => judgeWebhook(webhook, byUser.get(webhook.userId) ?? []))
    .map((message) => ({ invariant: 'I10', message }))
}

function judgeWebhook({ userId, received }: WebhookEvidence, feed: NonNullable<Evidence['events']>): string[] {
  const byId = new Map(feed.map((event) => [event._id, event]))
  const arrived = new Set(received.map(({ id }) => id))
  const found = feed
    .filter(({ _id }) => !arrived.has(_id))
    .map(({ _id, sequence, type }) => `the event ${_id} (${type}, ${sequence}) did not reach the webhook of ${userId}`)
  for (const { id, headerId, isSigned, sequence, type } of received) {
    const event = byId.get(id)
    if (!event) found.push(`the webhook of ${userId} got ${id}, which is not in the feed`)
    else if (event.sequence !== sequence || event.type !== type) {
      found.push(`the webhook of ${userId} got ${id} as ${type} ${sequence}, but it is ${event.type} ${event.sequence}`)
    }
    if (headerId !== id) found.push(`the webhook of ${userId} got ${id} with the id ${headerId} in its header`)
    if (!isSigned) found.push(`the webhook of ${userId} got ${id} without a valid signature`)
  }
  return found
}
