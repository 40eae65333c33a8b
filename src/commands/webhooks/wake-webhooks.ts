import { createFairLimit } from '../../flow/fair-limit.ts'
import { isPaused } from '../../domain/webhooks/webhooks.ts'
import { batcher } from '../../store/shared/batching.ts'
import type { WebhookRef } from '../../store/webhooks/webhooks.ts'
import type { Parts } from '../parts.ts'

const CONCURRENT_WAKES = 20
/** Notices of this time are one wake, so that a burst of events does not fill the history of the workflow with signals. */
const COLLECT_MS = 50
/** Shown to operators in the Temporal UI. */
const WEBHOOK_SUMMARY = "Deliver events to a user's webhook"

/** Starts the workflows of webhooks, or wakes running ones, in the background. The sweeper repeats what Temporal did not acknowledge. */
export function createWakeWebhooks({ logger, orchestrator, webhooks }: Parts) {
  const takeTurn = createFairLimit({ maxRunning: CONCURRENT_WAKES })
  /** The webhooks that are about to be woken. Further notices about them add nothing. */
  const waiting = new Map<string, NodeJS.Timeout>()

  function wake(webhook: WebhookRef): void {
    if (!waiting.has(webhook._id))
      waiting.set(
        webhook._id,
        setTimeout(() => start(webhook), COLLECT_MS),
      )
  }

  function start({ _id, userId }: WebhookRef): void {
    const startNow = () => {
      waiting.delete(_id)
      return orchestrator.startWork('deliverWebhooks', _id, { summary: WEBHOOK_SUMMARY, fairnessKey: userId })
    }
    takeTurn(userId, startNow).catch((err: unknown) => logger.warn({ err, webhookId: _id }, 'webhook not woken'))
  }

  /** Concurrent notices share a read. */
  const wakeUsers = batcher<void, readonly string[]>(async (notices, settle) => {
    const userIds = [...new Set(notices.flat())]
    for (const webhook of await webhooks.listEnabledOf(userIds)) wake(webhook)
    notices.forEach((_, index) => settle(index, undefined))
  })

  return {
    wake,

    /** Wakes the webhooks of users with new events. Neither waits nor throws. */
    wakeUsers(userIds: readonly string[]): void {
      wakeUsers(userIds).catch((err: unknown) => logger.warn({ err }, 'webhooks not woken'))
    },

    /** Starts no further workflows. The sweeper starts them. */
    close(): void {
      for (const timer of waiting.values()) clearTimeout(timer)
    },
  }
}

export type WakeWebhooks = ReturnType<typeof createWakeWebhooks>

/**
 * Webhooks whose workflows missed their time or a notice about new events, for the sweeper. A run examines one page of all webhooks for missed
 * notices, and the next run of this process continues after it.
 */
export function webhookBacklog({ clock, events, webhooks }: Parts) {
  let after = ''

  async function listBehind(limit: number): Promise<WebhookRef[]> {
    const page = await webhooks.listPositions(after, limit)
    after = page.length === limit ? page.at(-1)!._id : ''
    const latest = await events.latestSequences([...new Set(page.map(({ userId }) => userId))])
    const now = clock.now()
    return page.filter(({ userId, cursor, health }) => cursor < (latest.get(userId) ?? 0) && !isPaused(health, now))
  }

  return {
    work: 'deliverWebhooks' as const,
    summary: WEBHOOK_SUMMARY,
    async listUnstarted(before: Date, limit: number): Promise<{ id: string; userId: string }[]> {
      const found = [...(await webhooks.listOverdue(before, limit)), ...(await listBehind(limit))]
      const byId = new Map(found.map(({ _id, userId }) => [_id, { id: _id, userId }]))
      return [...byId.values()].slice(0, limit)
    },
  }
}
