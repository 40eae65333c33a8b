import type { Platform } from '../../src/domain/shared/platforms.ts'
import { consent } from './shared/consent.ts'
import type { Crowd } from './shared/crowd.ts'
import type { Front } from './shared/simulator.ts'

/** A platform that the sandbox and the fault runs can start. */
export interface SandboxPlatform {
  /** The server's own name: of its folder, and in what is printed. */
  name: string
  start(dir: string, behaviour: Behaviour): Promise<RunningPlatform>
}

export interface Behaviour {
  /** How long the platform works on a file before it can be shown. */
  processingMs?: { image: number; video: number }
  /** Mastodon stands for a server of another maker: it ignores the idempotency key and does not name the application. */
  mastodonOfAnotherMaker?: boolean
  /** Who looks at what is published; by default nobody. */
  crowdOn?(platform: Platform): Crowd
}

export interface RunningPlatform {
  /** By platform, since one server may stand for two. */
  fronts: Partial<Record<Platform, Front>>
  /** The settings with which the service's processes reach it; `publicUrl` is where the platform finds their callbacks. */
  env(publicUrl: string): Record<string, string>
  /** More of what is told about it in `world.json`, for the account of this name. */
  facts?(name: string): Promise<Record<string, string>>
  /** Makes the accounts of this name where they are missing, and connects them as the user does whose requests `api` makes. */
  connect(name: string, api: UserApi): Promise<SandboxAccount[]>
  stop(): Promise<void>
}

/** One account on a platform. */
export interface SandboxAccount {
  platform: Platform
  /** As the ledger names it. */
  account: string
  /** As the control interface names it. */
  accountId: string
  /** What must never be seen in the service's logs, histories or records, by what it is. */
  secrets: Record<string, string>
}

/** The API as one user has it. */
export interface UserApi {
  /** Answers `data`; throws when refused. */
  call<T>(method: 'GET' | 'POST' | 'DELETE', path: string, body?: object): Promise<T>
  /** Goes where a platform's page sends the browser, which is a callback of the API, and answers where that ended. */
  follow(address: string): Promise<string>
}

/** The whole way of a user over a platform's page and back. */
export async function connectByPage(platform: Platform, accountId: string, api: UserApi): Promise<void> {
  const begun = await api.call<{ authUrl?: string; url?: string }>('GET', `/api/platform/${platform}/connect`)
  const end = await api.follow(await consent((begun.authUrl ?? begun.url)!, accountId))
  if (!end.includes(`success=${platform}_connected`)) throw new Error(`Connecting ${platform} ended at ${end}`)
}
