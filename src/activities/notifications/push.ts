import { activityInfo, log } from '@temporalio/activity'
import { openPushToken } from '../../commands/notifications/push-devices.ts'
import { PUSH_LIFE_MS, toPushMessage, type PushMessage, type PushState } from '../../domain/notifications/push.ts'
import type { PushOutcome } from '../../integrations/push/push.ts'
import type { Notification } from '../../store/notifications/notifications.ts'
import type { PushDevice } from '../../store/notifications/push-tokens.ts'
import { allSettledOrThrow } from '../shared/all-settled.ts'
import { CapacityExceeded, createServerLimiter, type Caller } from '../shared/call-limiter.ts'
import { withHeartbeat } from '../shared/heartbeat.ts'
import { retryAfter } from '../shared/retry-after.ts'
import { createSlotShares } from '../shared/slot-shares.ts'
import type { WorkerContext } from '../worker-context.ts'

/** Concurrent push calls per worker. Mails use the same activity slots, so a hanging push service must not take them all. */
const MAX_CONCURRENT_CALLS = 32

/** The final result of a push. */
interface PushEnd {
  state: PushState
  reason?: string
}

/** Pushes notifications. The record stores each device that got the message, so that an attempt continues where the last one ended. */
export function createPushActivities(deps: WorkerContext) {
  const { push, pushes, pushTokens, users, planWeights, clock, metrics } = deps
  const limiter = createServerLimiter<PushOutcome>(
    { start: MAX_CONCURRENT_CALLS, most: MAX_CONCURRENT_CALLS },
    (outcome) => ({
      failure:
        outcome.kind === 'later' && outcome.isUnavailable ? { server: '', isUnsent: false, isAnswered: true } : null,
      isThrottled: false,
      latencyMs: null,
    }),
  )

  const slots = createSlotShares(deps.notificationSlots)

  return {
    async pushToDevices(notificationId: string, userId: string): Promise<PushState> {
      const notification = await pushes.find(notificationId, userId)
      // The notification was erased, or an earlier run ended it.
      if (notification?.push.state !== 'waiting' && notification?.push.state !== 'started') {
        return notification?.push.state ?? 'none'
      }
      // Acknowledged here and not at the start, so that the sweeper finds a workflow that never gets here.
      if (notification.push.state === 'waiting') await pushes.acknowledge(notification)
      return slots.run(notification.userId, activityInfo().attempt, () => pushNotification(notification))
    },
  }

  async function pushNotification(notification: Notification): Promise<PushState> {
    const { heartbeatDetails } = activityInfo()
    const served = new Set([...(notification.push.servedDevices ?? []), ...((heartbeatDetails ?? []) as string[])])
    return withHeartbeat([...served], async ({ update }) => {
      // The next attempt reads the heartbeat, even when the database was down.
      const remember = (deviceId: string) => update([...served.add(deviceId)])
      const { state, reason } = await pushToRemaining(notification, served, remember)
      await pushes.finish(notification, state, reason)
      if (state === 'failed') {
        metrics.pushFailed()
        log.warn('push incomplete', { notificationId: notification._id, reason })
      }
      return state
    })
  }

  /** @throws a retry failure while devices are left that may still get the message */
  async function pushToRemaining(
    notification: Notification,
    served: ReadonlySet<string>,
    remember: (deviceId: string) => void,
  ): Promise<PushEnd> {
    const { userId, createdAt } = notification
    const owner = await users.findById(userId)
    if (!owner || owner.isDisabled) return { state: 'failed', reason: 'the account is disabled or deleted' }
    const caller = { userId, accountId: userId, weight: planWeights[owner.subscription.plan] }
    const left = (await pushTokens.listOf(userId)).filter(({ _id }) => !served.has(_id))
    const message = toPushMessage(notification)
    const outcomes = await allSettledOrThrow(left.map((device) => pushTo(caller, device, message, remember)))

    const unreached = outcomes.filter((outcome) => outcome.kind === 'later')
    if (unreached.length > 0) {
      const reason = `${unreached.length} of ${served.size + unreached.length} devices not reached: the push service ${unreached[0]!.why}`
      if (clock.now().getTime() - createdAt.getTime() >= PUSH_LIFE_MS) return { state: 'failed', reason }
      const waits = unreached.flatMap(({ waitMs }) => waitMs ?? [])
      throw retryAfter(reason, waits.length > 0 ? Math.max(...waits) : undefined)
    }
    const [refused] = outcomes.filter((outcome) => outcome.kind === 'refused')
    if (refused) return { state: 'failed', reason: `the push service ${refused.why}` }
    return { state: served.size > 0 ? 'sent' : 'none' }
  }

  async function pushTo(
    caller: Caller,
    device: PushDevice,
    message: PushMessage,
    remember: (deviceId: string) => void,
  ): Promise<PushOutcome> {
    const outcome = await send(caller, device, message)
    metrics.pushAttempted(outcome.kind)
    // Stored immediately, because a worker that dies now must not send the message again.
    if (outcome.kind === 'sent') {
      remember(device._id)
      await pushes.addServedDevice({ _id: message.data.notificationId, userId: caller.userId }, device._id)
    }
    if (outcome.kind === 'dead') await pushTokens.removeUnlessRenewed(device)
    return outcome
  }

  async function send(caller: Caller, device: PushDevice, message: PushMessage): Promise<PushOutcome> {
    if (!push) return { kind: 'later', why: 'is not set up', isUnavailable: false }
    const token = openPushToken(deps, device)
    if (token === null) return { kind: 'later', why: 'was not called: the token cannot be read', isUnavailable: false }
    try {
      return await limiter.run(caller, () => push.send(token, message, clock.now()))
    } catch (error) {
      if (error instanceof CapacityExceeded)
        return { kind: 'later', why: `was not called: ${error.message}`, isUnavailable: true }
      throw error
    }
  }
}
