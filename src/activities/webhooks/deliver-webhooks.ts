import { activityInfo, cancellationSignal, log } from '@temporalio/activity'
import { disableWebhook } from '../../commands/webhooks/disable-webhook.ts'
import { presentEvent } from '../../domain/events/events.ts'
import { openWebhookSecrets } from '../../commands/webhooks/webhook-secrets.ts'
import { createFairLimit } from '../../flow/fair-limit.ts'
import { MINUTE, SECOND } from '../../domain/shared/times.ts'
import {
  judgeStatus,
  planRetry,
  planRound,
  type PendingDelivery,
  type WebhookDelivery,
} from '../../domain/webhooks/deliveries.ts'
import {
  DISABLED_ACCOUNT_PAUSE_MS,
  hasFailedTooLong,
  isFailing,
  isPaused,
  noteFailure,
  noteSuccess,
  type Webhook,
} from '../../domain/webhooks/webhooks.ts'
import type { WebhookResult } from '../../integrations/webhooks/webhook-sender.ts'
import type { AttemptResult } from '../../store/webhooks/deliveries.ts'
import type { RoundResult } from '../../workflows/contract/rounds.ts'
import { allSettledOrThrow } from '../shared/all-settled.ts'
import { withHeartbeat } from '../shared/heartbeat.ts'
import { createSlotShares } from '../shared/slot-shares.ts'
import type { WorkerContext } from '../worker-context.ts'

/** A round starts no attempt after this time, so that users take turns at the activity slots. */
const ROUND_MS = 30 * SECOND
/** Longer than a round. The sweeper wakes a webhook whose workflow is lost after this. */
const LEASE_MS = 3 * MINUTE
/** Concurrent attempts to one receiver, each for another post. */
const CONCURRENT_ATTEMPTS = 5
/** Events that become deliveries in one transaction. */
const PAGE = 100
/** Events wait in the feed while a webhook has this many deliveries without an attempt. */
const MAX_UNTRIED = 500
/** And while it has this many pending deliveries altogether. */
const MAX_PENDING = 5_000

/** Delivers the events of the feed to webhooks: at least once, with one id, and in order per post while its attempts succeed. */
export function createDeliverWebhooksActivities(deps: WorkerContext) {
  const { clock, events, metrics, users, webhooks, webhookDeliveries } = deps
  const slots = createSlotShares(deps.webhookSlots)

  return {
    /** Attempts what is due. The next round is for what became due meanwhile. */
    deliverRound(webhookId: string, userId: string): Promise<RoundResult> {
      return slots.run(userId, activityInfo().attempt, () =>
        withHeartbeat(null, async () => ({ nextAt: (await runRound(userId, webhookId))?.getTime() ?? null })),
      )
    },
  }

  /** Returns when the next round is due; null when nothing is left. */
  async function runRound(userId: string, webhookId: string): Promise<Date | null> {
    const endsAt = new Date(clock.now().getTime() + ROUND_MS)
    const lease = new Date(clock.now().getTime() + LEASE_MS)
    const found = await webhooks.find(userId, webhookId)
    if (!found?.isEnabled || !(await mayDeliver(found))) return null
    await webhooks.setWakeAt(found, lease)
    const nextAt = await deliverUntil(userId, webhookId, endsAt)
    await webhooks.setWakeAt(found, nextAt, lease)
    return nextAt
  }

  /** Pauses the webhook of a disabled account. The sweeper wakes it after the pause, when there are events for it. */
  async function mayDeliver(webhook: Webhook): Promise<boolean> {
    const owner = await users.findById(webhook.userId)
    if (owner && !owner.isDisabled) return true
    const pausedUntil = new Date(clock.now().getTime() + DISABLED_ACCOUNT_PAUSE_MS)
    await webhooks.setHealth(webhook, { ...webhook.health, pausedUntil })
    await webhooks.setWakeAt(webhook, pausedUntil)
    return false
  }

  /** Reads the webhook before every wave of attempts, because its owner may change it. */
  async function deliverUntil(userId: string, webhookId: string, endsAt: Date): Promise<Date | null> {
    for (;;) {
      const webhook = await webhooks.find(userId, webhookId)
      if (!webhook?.isEnabled) return null
      if (isPaused(webhook.health, clock.now())) return webhook.health.pausedUntil
      const pending = await collect(webhook)
      const now = clock.now()
      const { chains, nextAt } = planRound(pending, now)
      if (chains.length === 0) return nextAt
      if (now >= endsAt || deps.draining.aborted) return now
      await attemptChains(webhook, chains, endsAt)
    }
  }

  /** Turns new events into deliveries. Returns the pending ones. */
  async function collect(webhook: Webhook): Promise<PendingDelivery[]> {
    for (let { cursor } = webhook; ;) {
      const pending = await webhookDeliveries.listPending(webhook)
      const untried = pending.filter(({ firstAttemptAt }) => firstAttemptAt === null).length
      if (untried >= MAX_UNTRIED || pending.length >= MAX_PENDING) return pending
      const types = webhook.events.length > 0 ? webhook.events : undefined
      const page = await events.page(webhook.userId, { after: cursor, types, limit: PAGE })
      if (page.examinedTo <= cursor) return pending
      const isAdvanced = await deps.database.transaction(async (session) => {
        if (!(await webhooks.advance({ ...webhook, cursor }, page.examinedTo, session))) return false
        await webhookDeliveries.request(webhook, page.events, clock.now(), session)
        return true
      })
      if (!isAdvanced) return webhookDeliveries.listPending(webhook)
      cursor = page.examinedTo
    }
  }

  async function attemptChains(webhook: Webhook, chains: PendingDelivery[][], endsAt: Date): Promise<void> {
    // While the receiver fails, one event tests whether it works again.
    const tested = isFailing(webhook.health) ? [chains[0]!.slice(0, 1)] : chains
    const progress = createProgress(webhook)
    const mayStart = () => clock.now() < endsAt && !deps.draining.aborted && progress.isOpen()
    const limit = createFairLimit({ maxRunning: CONCURRENT_ATTEMPTS })
    await allSettledOrThrow(
      tested.map((chain) =>
        limit('', async () => {
          for (const { _id } of chain) {
            if (!mayStart() || !(await attempt(webhook, _id, progress))) return
          }
        }),
      ),
    )
  }

  /** The health of the receiver during a wave of attempts. */
  function createProgress(webhook: Webhook) {
    let { health } = webhook
    let isDisabled = false
    let stored = Promise.resolve()

    /** Stores the health as it is then, one write at a time: concurrent attempts would leave that of an earlier one. */
    function store(): Promise<void> {
      stored = stored.catch(() => {}).then(() => webhooks.setHealth(webhook, health))
      return stored
    }

    async function disable(reason: 'gone' | 'failing'): Promise<void> {
      isDisabled = true
      if (!(await disableWebhook(deps, webhook, reason))) return
      metrics.webhookDisabled(reason)
      log.warn('webhook disabled', { webhookId: webhook._id, userId: webhook.userId, reason })
    }

    return {
      /** Returns false when no further attempt may start. */
      isOpen: (): boolean => !isDisabled && !isPaused(health, clock.now()),

      async noteSuccess(): Promise<void> {
        health = noteSuccess(health, clock.now())
        await store()
      },

      /** Returns when the receiver may be tried again; null for no pause. */
      async noteFailure(statedWaitMs: number | undefined): Promise<Date | null> {
        const now = clock.now()
        health = noteFailure(health, { now, random: Math.random(), statedWaitMs })
        if (hasFailedTooLong(health, now)) await disable('failing')
        else await store()
        return health.pausedUntil
      },

      disable,
    }
  }

  /** Returns true when the event was delivered, or need not be. */
  async function attempt(
    webhook: Webhook,
    deliveryId: string,
    progress: ReturnType<typeof createProgress>,
  ): Promise<boolean> {
    const delivery = await webhookDeliveries.find(webhook, deliveryId)
    if (delivery?.state !== 'pending') return true
    const at = clock.now()
    const result = await send(webhook, delivery, at)
    const durationMs = clock.now().getTime() - at.getTime()
    const { status, error, excerpt: response } = result
    const verdict = judgeStatus(status)
    const shared = {
      attempt: { at, durationMs, status, error, response },
      firstAttemptAt: delivery.firstAttemptAt ?? at,
    }
    metrics.webhookAttempted(verdict === 'delivered' ? 'delivered' : 'failed', durationMs / SECOND)
    if (verdict === 'delivered') {
      await webhookDeliveries.recordAttempt(delivery, { ...shared, state: 'delivered', nextAttemptAt: at })
      await progress.noteSuccess()
      metrics.webhookDelivered((at.getTime() - delivery.event.occurredAt.getTime()) / SECOND)
      return true
    }
    if (verdict === 'gone') {
      await webhookDeliveries.recordAttempt(delivery, { ...shared, state: 'failed', nextAttemptAt: at })
      await progress.disable('gone')
      return false
    }
    const pausedUntil = await progress.noteFailure(result.retryAfterMs)
    await webhookDeliveries.recordAttempt(delivery, {
      ...shared,
      ...planNext(delivery, shared.firstAttemptAt, pausedUntil),
    })
    return false
  }

  function planNext(
    { attemptCount }: WebhookDelivery,
    firstAttemptAt: Date,
    pausedUntil: Date | null,
  ): Pick<AttemptResult, 'state' | 'nextAttemptAt'> {
    const now = clock.now()
    const next = planRetry({ firstAttemptAt, attemptCount: attemptCount + 1, now, random: Math.random() })
    if (next === null) return { state: 'failed', nextAttemptAt: now }
    return { state: 'pending', nextAttemptAt: pausedUntil !== null && pausedUntil > next ? pausedUntil : next }
  }

  async function send(webhook: Webhook, { event }: WebhookDelivery, sentAt: Date): Promise<WebhookResult> {
    const secrets = openWebhookSecrets(deps.cipher, webhook, sentAt)
    if (secrets === null) {
      const error = 'was not called, because the signing secret can no longer be read. Rotate it'
      return { status: null, error, excerpt: null, retryAfterMs: undefined }
    }
    const message = { url: webhook.url, id: event.id, body: JSON.stringify(presentEvent(event)), secrets, sentAt }
    return deps.webhookSender.send(message, cancellationSignal())
  }
}
