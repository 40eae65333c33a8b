import { join } from 'node:path'
import type { Platform } from '../../src/domain/platforms.ts'
import { startBluesky } from '../../sandbox/platforms/bluesky.ts'
import { controlOf, type Control } from '../support/platform-control.ts'
import type { Send } from './client.ts'

/** A platform of the sandbox behind its fault proxy, as a fault run needs it. */
export interface FaultPlatform {
  platform: Platform
  /** What the service's processes have to be told of it. */
  env: Record<string, string>
  control: Control
  /** Parts of the paths of the calls that faults aim at: the visible one, the look for its trace, and the renewal of tokens. */
  paths: { publish: string; reconcile: string; renew: string }
  /** A new account, connected to the user whose requests `send` makes. */
  connect(name: string, send: Send): Promise<PlatformUser>
  stop(): Promise<void>
}

export interface PlatformUser {
  /** As the ledger names it. */
  account: string
  /** As the control interface names it. */
  accountId: string
  secrets: Record<string, string>
}

/** Every platform that the sandbox has; their data go under the folder. A further one is one more starter. */
export function startPlatforms(dir: string): Promise<FaultPlatform[]> {
  return Promise.all(STARTERS.map((start) => start(dir)))
}

const STARTERS = [startFaultBluesky]

async function startFaultBluesky(dir: string): Promise<FaultPlatform> {
  const bluesky = await startBluesky({ dir: join(dir, 'bluesky') })
  return {
    platform: 'bluesky',
    env: { BLUESKY_ENTRY_URL: bluesky.url },
    control: controlOf(bluesky.control),
    paths: { publish: 'repo.putRecord', reconcile: 'repo.getRecord', renew: 'server.refreshSession' },
    async connect(name, send) {
      const account = await bluesky.createAccount({ handle: `${name}.test` })
      const { status, body } = await send('POST', '/api/platform/bluesky/connect', {
        identifier: account.handle,
        appPassword: account.appPassword,
      })
      if (status !== 200) throw new Error(`connecting Bluesky answered ${status}: ${JSON.stringify(body)}`)
      const secrets = { 'an app password': account.appPassword, 'a main password': account.password }
      return { account: account.handle, accountId: account.did, secrets }
    },
    stop: bluesky.stop,
  }
}
