import { join } from 'node:path'
import type { LedgerEntry } from '../platforms/proxied-platform.ts'
import { startSimulator, type SimulatorPlace } from '../platforms/shared/simulator.ts'
import type { TakenMessage } from './push/messages.ts'
import { createPushServer } from './push/server.ts'
import { openState } from './push/state.ts'

/** A message to a device; `account` is the device's token. */
export interface PushLedgerEntry extends LedgerEntry {
  message: TakenMessage
}

/**
 * Starts a simulated Firebase Cloud Messaging behind the fault proxy. The ledger lists every accepted message; `POST
 * {control}/accounts/<token>/revoke` unregisters a device.
 */
export async function startPush(place: SimulatorPlace = {}) {
  const { fronts, account, stop } = await startSimulator('push', place, ({ dir, urlOf }) => {
    const state = openState(join(dir, 'state.jsonl'))
    const ledger = async (): Promise<PushLedgerEntry[]> =>
      state.pushes.values().map(({ name, message, at }) => ({
        id: name,
        account: message.token,
        text: message.notification.body,
        media: [],
        createdAt: at,
        message,
      }))
    async function revoke(token: string): Promise<boolean> {
      return state.unregistered.set(token, true)
    }
    return {
      server: createPushServer({ state, base: () => urlOf('push') }),
      fronts: { push: { ledger, revoke } },
      api: { account: state.account },
    }
  })
  const { url, control } = fronts['push']!
  return {
    url,
    control,
    /** The configuration of the service. */
    env: () => ({
      FCM_PROJECT_ID: account.projectId,
      FCM_CLIENT_EMAIL: account.clientEmail,
      FCM_PRIVATE_KEY: account.privateKey,
      FCM_URL: url,
      FCM_TOKEN_URL: `${url}/token`,
    }),
    stop,
  }
}

export type SandboxPush = Awaited<ReturnType<typeof startPush>>
