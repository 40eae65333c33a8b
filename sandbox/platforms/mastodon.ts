import { mkdirSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startFaultProxy } from './fault-proxy.ts'
import { readJson, writeJson } from './json-file.ts'
import { closeServer, listenOnLoopback } from './listen.ts'
import { createMediaStore, MEDIA_LIMITS } from './mastodon/media.ts'
import { createOAuth } from './mastodon/oauth.ts'
import { createMastodonPlatform } from './mastodon/platform.ts'
import { createRateLimits, type RateLimits } from './mastodon/rate-limits.ts'
import { createMastodonServer } from './mastodon/server.ts'
import { openState, type Account, type App, type Status } from './mastodon/state.ts'
import { createStatuses } from './mastodon/statuses.ts'

export type MastodonApp = Pick<App, 'name' | 'clientId' | 'clientSecret'>

export interface MastodonOptions {
  /** Where its data lives; without it in a temporary folder that goes when it stops. */
  dir?: string
  port?: number
  controlPort?: number
  maxCharacters?: number
  /** Types of files that this instance takes. */
  types?: string[]
  /** How long the work on a video takes. */
  processingMs?: number
  /** In place of the real server's. */
  rateLimits?: RateLimits
  /** False for servers that take the `Idempotency-Key` and ignore it. */
  honoursKeys?: boolean
}

export interface Mastodon {
  /** The fault proxy in front of the server: what our service talks to, and what a browser opens. */
  url: string
  control: string
  /** The account with this user name, made if there is none; the same again after a restart. */
  createAccount(input: { username: string; displayName?: string; note?: string }): Account
  /** The application with this name, made if there is none; its redirect URIs and scopes become the given ones. */
  createApp(input: { name: string; redirectUris: string[]; scopes?: string[] }): MastodonApp
  /** As the account's owner does with the web client. */
  publishElsewhere(account: Account, text: string): Status
  rewrite(statusId: string, text: string): void
  stop(): Promise<void>
}

/** What our service asks for. */
const SCOPES = ['read:accounts', 'read:statuses', 'write:statuses', 'write:media']

/** A strict simulator of one Mastodon server, behind the fault proxy. All data is under `dir`. */
export async function startMastodon(options: MastodonOptions = {}): Promise<Mastodon> {
  const dir = options.dir ?? (await mkdtemp(join(tmpdir(), 'postonce-mastodon-')))
  mkdirSync(dir, { recursive: true })
  // Accounts connected earlier remember the address, so it stays the same from start to start if it can.
  const ports = readJson<{ proxy?: number; control?: number }>(join(dir, 'ports.json'), {})
  const { maxCharacters = 500, types = MEDIA_LIMITS.types, processingMs = 1_000 } = options

  const state = openState(join(dir, 'state.jsonl'))
  const oauth = createOAuth(state)
  const base = () => proxy.url
  const media = createMediaStore({ state, dir: join(dir, 'media'), base, processingMs, types })
  const statuses = createStatuses({ state, media, base, maxCharacters, honoursKeys: options.honoursKeys ?? true })
  const countRequest = createRateLimits(options.rateLimits ?? {})
  const server = createMastodonServer({ state, oauth, media, statuses, countRequest, base, maxCharacters, types })
  const serverUrl = await listenOnLoopback(server)
  const proxy = await startFaultProxy({
    platform: createMastodonPlatform({ state, oauth, statuses }),
    target: () => serverUrl,
    port: options.port ?? ports.proxy ?? 0,
    controlPort: options.controlPort ?? ports.control ?? 0,
  })
  writeJson(join(dir, 'ports.json'), { proxy: portOf(proxy.url), control: portOf(proxy.control) })
  ensureApp({ name: 'Web', redirectUris: [], scopes: ['read', 'write'] })

  function ensureApp({ name, redirectUris, scopes = SCOPES }: Parameters<Mastodon['createApp']>[0]): App {
    const existing = state.apps.values().find((app) => app.name === name)
    if (!existing) return oauth.makeApp({ name, website: null, redirectUris, scopes })
    return state.apps.set(existing.clientId, { ...existing, redirectUris, scopes })
  }

  return {
    url: proxy.url,
    control: proxy.control,

    createAccount({ username, displayName = '', note = '' }) {
      const existing = state.accounts.values().find((account) => account.username === username)
      if (existing) return existing
      const id = state.newId()
      return state.accounts.set(id, { id, username, displayName, note, createdAt: new Date().toISOString() })
    },

    createApp: ensureApp,
    publishElsewhere: statuses.publishElsewhere,
    rewrite: statuses.rewrite,

    async stop() {
      await proxy.stop()
      await closeServer(server)
      if (!options.dir) await rm(dir, { recursive: true, force: true })
    },
  }
}

function portOf(url: string): number {
  return Number(new URL(url).port)
}
