import { activityInfo, log } from '@temporalio/activity'
import type { Clock } from '../../clock.ts'
import { tokenOf } from '../../commands/notifications/push-devices.ts'
import { PUSH_LIFE_MS, toPushMessage, type PushMessage, type PushState } from '../../domain/notifications/push.ts'
import type { Metrics } from '../../telemetry/metrics.ts'
import type { Push, PushOutcome } from '../../integrations/push/push.ts'
import type { TokenCipher } from '../../security/token-cipher.ts'
import type { Notification } from '../../store/notifications/notifications.ts'
import type { PushStore } from '../../store/notifications/pushes.ts'
import type { PushDevice, PushTokenStore } from '../../store/notifications/push-tokens.ts'
import type { UserStore } from '../../store/users/users.ts'
import { keepAlive, waiting } from '../shared/heartbeat.ts'
import { createCompartment, NoRoom } from '../shared/compartment.ts'

/** In one worker. Mails wait for the same slots: a push service that hangs takes no more of them than this. */
const CALLS_IN_FLIGHT = 32

export interface PushDeps {
  push: Pick<Push, 'send'> | null
  pushes: PushStore
  pushTokens: Pick<PushTokenStore, 'listOf' | 'removeUnlessRenewed'>
  users: Pick<UserStore, 'findById'>
  cipher: TokenCipher
  clock: Clock
  metrics: Pick<Metrics, 'pushed' | 'pushFailed'>
}

/** How it ends: nothing is tried after that. */
interface End {
  state: PushState
  reason?: string
}

/** What a notification's push came to stands on its record, device by device, so that an attempt goes on where the last one ended. */
export function createPushActivities({ push, pushes, pushTokens, users, cipher, clock, metrics }: PushDeps) {
  const compartment = createCompartment<PushOutcome>(
    CALLS_IN_FLIGHT,
    (outcome) => outcome.kind === 'later' && outcome.isTrouble,
  )

  return {
    async pushToDevices(notificationId: string): Promise<PushState> {
      const notification = await pushes.find(notificationId)
      // Erased, or an earlier run has seen to it.
      if (notification?.push?.state !== 'waiting' && notification?.push?.state !== 'started') {
        return notification?.push?.state ?? 'none'
      }
      // Not when the workflow is started: one that never gets here is stuck, and the sweeper has to find it.
      if (notification.push.state === 'waiting') await pushes.acknowledge(notificationId)
      const { heartbeatDetails } = activityInfo()
      const served = new Set([...(notification.push.servedDevices ?? []), ...((heartbeatDetails ?? []) as string[])])
      const beat = keepAlive([...served])
      // Also where the database cannot be told: then the next attempt has it from here.
      const remember = (deviceId: string) => beat.tell([...served.add(deviceId)])
      try {
        const { state, reason } = await attempt(notification, served, remember)
        await pushes.settle(notificationId, state, reason)
        if (state === 'failed') {
          metrics.pushFailed()
          log.warn('A notification was not pushed to every device', { notificationId, reason })
        }
        return state
      } finally {
        beat.stop()
      }
    },
  }

  /** @throws waiting while devices are left that may yet be reached */
  async function attempt(
    notification: Notification,
    served: ReadonlySet<string>,
    remember: (deviceId: string) => void,
  ): Promise<End> {
    const { userId, createdAt } = notification
    const owner = await users.findById(userId)
    if (!owner || owner.isDisabled) return { state: 'failed', reason: 'the account is disabled or gone' }
    const left = (await pushTokens.listOf(userId)).filter(({ _id }) => !served.has(_id))
    const message = toPushMessage(notification)
    const outcomes = await everyOne(left.map((device) => pushTo(userId, device, message, remember)))

    const late = outcomes.filter((outcome) => outcome.kind === 'later')
    if (late.length > 0) {
      const reason = `${late.length} of ${served.size + late.length} devices not reached: the push service ${late[0]!.why}`
      if (clock.now().getTime() - createdAt.getTime() >= PUSH_LIFE_MS) return { state: 'failed', reason }
      const waits = late.flatMap(({ waitMs }) => waitMs ?? [])
      throw waiting(reason, waits.length > 0 ? Math.max(...waits) : undefined)
    }
    const [refused] = outcomes.filter((outcome) => outcome.kind === 'refused')
    if (refused) return { state: 'failed', reason: `the push service ${refused.why}` }
    return { state: served.size > 0 ? 'sent' : 'none' }
  }

  async function pushTo(
    userId: string,
    device: PushDevice,
    message: PushMessage,
    remember: (deviceId: string) => void,
  ): Promise<PushOutcome> {
    const outcome = await send(userId, device, message)
    metrics.pushed(outcome.kind)
    // As soon as it is known, since a worker that dies now must not send it again.
    if (outcome.kind === 'sent') {
      remember(device._id)
      await pushes.addServed(message.data.notificationId, device._id)
    }
    if (outcome.kind === 'dead') await pushTokens.removeUnlessRenewed(device)
    return outcome
  }

  async function send(userId: string, device: PushDevice, message: PushMessage): Promise<PushOutcome> {
    if (!push) return { kind: 'later', why: 'is not set up', isTrouble: false }
    const token = tokenOf({ cipher }, device)
    if (token === null) return { kind: 'dead', why: 'is not asked: the token can no longer be read' }
    try {
      return await compartment.run(userId, () => push.send(token, message, clock.now()))
    } catch (error) {
      if (error instanceof NoRoom) return { kind: 'later', why: `is not asked now: ${error.message}`, isTrouble: true }
      throw error
    }
  }
}

/** Like `Promise.all`, but nothing is left running when one of them fails. */
async function everyOne<T>(running: Promise<T>[]): Promise<T[]> {
  await Promise.allSettled(running)
  return Promise.all(running)
}
