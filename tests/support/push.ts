import { startPush, type PushLedgerEntry } from '../../sandbox/services/push.ts'
import type { Context } from '../../src/context.ts'
import { controlOf } from './platform-control.ts'
import { unique } from './servers.ts'

/** Sends requests as a logged-in user. */
interface Caller {
  call(method: 'POST' | 'DELETE', path: string, body?: object): Promise<{ status: number; body: unknown }>
}

/** Starts a push service for the test file alone. */
export async function startPushReceiver() {
  const receiver = await startPush()
  const control = controlOf(receiver.control)
  const ledger = async () => (await control.ledger()) as PushLedgerEntry[]
  return {
    ...receiver,
    control,
    ledger,

    /** Returns the ids of the notifications that were sent to a device, repeats included. */
    async sentTo(token: string): Promise<string[]> {
      const entries = (await ledger()).filter(({ account }) => account === token)
      return entries.map(({ message }) => message.data['notificationId']!)
    },

    /** Returns all send requests, accepted or not. */
    sends: async () => (await control.requests()).filter(({ path }) => path.endsWith('messages:send')),
  }
}

export type PushReceiver = Awaited<ReturnType<typeof startPushReceiver>>

/** Registers a device and returns its token. */
export async function registerDevice(user: Caller, platform = 'android'): Promise<string> {
  const token = unique('a-device-of-firebase')
  const { status, body } = await user.call('POST', '/api/notifications/devices', { token, platform })
  if (status !== 200) throw new Error(`registering the device returned ${status}: ${JSON.stringify(body)}`)
  return token
}

export async function listPushStates({ notifications }: Pick<Context, 'notifications'>, userId: string) {
  return (await notifications.listOf(userId, 100)).map(({ push }) => push?.state)
}
