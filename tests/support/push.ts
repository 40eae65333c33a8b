import { startPush, type PushLedgerEntry } from '../../sandbox/services/push.ts'
import type { Context } from '../../src/context.ts'
import { controlOf } from './platform-control.ts'
import { unique } from './servers.ts'

/** What sends requests as a logged-in user. */
interface Caller {
  call(method: 'POST' | 'DELETE', path: string, body?: object): Promise<{ status: number; body: unknown }>
}

/** A push service of the file's own, and what the tests ask of it. */
export async function startPushReceiver() {
  const receiver = await startPush()
  const control = controlOf(receiver.control)
  const ledger = async () => (await control.ledger()) as PushLedgerEntry[]
  return {
    ...receiver,
    control,
    ledger,

    /** The notifications that were sent to this device, by their ids, repeats included. */
    async sentTo(token: string): Promise<string[]> {
      const entries = (await ledger()).filter(({ account }) => account === token)
      return entries.map(({ message }) => message.data['notificationId']!)
    },

    /** All tries, taken or not. */
    sends: async () => (await control.requests()).filter(({ path }) => path.endsWith('messages:send')),
  }
}

export type PushReceiver = Awaited<ReturnType<typeof startPushReceiver>>

/** Registers a device and answers its token. */
export async function registerDevice(user: Caller, platform = 'android'): Promise<string> {
  const token = unique('a-device-of-firebase')
  const { status, body } = await user.call('POST', '/api/notifications/devices', { token, platform })
  if (status !== 200) throw new Error(`registering was answered ${JSON.stringify(body)}`)
  return token
}

export async function pushStatesOf({ notifications }: Pick<Context, 'notifications'>, userId: string) {
  return (await notifications.listOf(userId, 100)).map(({ push }) => push?.state)
}
