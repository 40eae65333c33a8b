import type { Platform } from '../../src/domain/shared/platforms.ts'
import type { Bluesky } from './bluesky.ts'
import { consent } from './shared/consent.ts'
import type { Crowd } from './shared/crowd.ts'
import type { Front } from './shared/simulator.ts'

/** A platform that the sandbox and the fault tests can start. */
export interface SandboxPlatform {
  /** The server's name, used for its folder and in output. */
  name: string
  start(dir: string, behaviour: Behaviour): Promise<RunningPlatform>
}

export interface Behaviour {
  /** How long the platform processes a file before it can be shown, milliseconds. */
  processingMs?: { image: number; video: number }
  /**
   * Simulates a compatible server instead of Mastodon: it ignores the idempotency key, does not report the application, shows files under
   * other ids than their uploads, and speaks German.
   */
  mastodonOfAnotherMaker?: boolean
  /** The simulated audience of a platform; by default there is none. */
  crowdOn?(platform: Platform): Crowd
  /** A running Bluesky server without an audience, which is used and keeps running. By default one is started. */
  bluesky?: Bluesky
}

export interface RunningPlatform {
  /** The fronts by platform, since one server may simulate two. */
  fronts: Partial<Record<Platform, Front>>
  /** The service's configuration for it; `publicUrl` is where callbacks arrive. */
  env(publicUrl: string): Record<string, string>
  /** Additional entries in `world.json` for the account with this name. */
  facts?(name: string): Promise<Record<string, string>>
  /** Creates the accounts with this name if needed, and connects them for the user of `api`. */
  connect(name: string, api: UserApi): Promise<SandboxAccount[]>
  /** Does the same beside the accounts that the user has on the platform, where the sandbox has several. */
  connectFurther?(name: string, api: UserApi): Promise<SandboxAccount>
  stop(): Promise<void>
}

/** One account on a platform. */
export interface SandboxAccount {
  platform: Platform
  /** The account's name in the ledger. */
  account: string
  /** The account's id in the control interface. */
  accountId: string
  /** Values that must never appear in the service's logs, histories or records, by kind. */
  secrets: Record<string, string>
}

/** The response that begins a login. Platforms name the URL differently. */
interface LoginPage {
  authUrl?: string
  url?: string
}

/** The API client of one user. */
export interface UserApi {
  /** Returns `data`; throws on an error. */
  call<T>(method: 'GET' | 'POST' | 'PATCH' | 'DELETE', path: string, body?: object): Promise<T>
  /** Opens a URL that a platform's page redirects to, a callback of the API, and returns its redirect. */
  follow(address: string): Promise<string>
}

/**
 * Runs the whole login of a user over a platform's page and back.
 * @param server adds the account on this server; by default the account takes the place of the platform's default one
 */
export async function connectByPage(
  platform: Platform,
  accountId: string,
  api: UserApi,
  server?: string,
): Promise<void> {
  const path = `/api/platform/${platform}/connect`
  const begun = await (server === undefined
    ? api.call<LoginPage>('GET', path)
    : api.call<LoginPage>('POST', `${path}?replace=false`, { instance: server }))
  const end = await api.follow(await consent((begun.authUrl ?? begun.url)!, accountId))
  if (!end.includes(`success=${platform}_connected`)) throw new Error(`Connecting ${platform} ended at ${end}`)
}
