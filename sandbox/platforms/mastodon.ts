import { join } from 'node:path'
import { createAccounts, type NewAccount } from './mastodon/accounts.ts'
import type { Language } from './mastodon/language.ts'
import { createMediaStore, MEDIA_LIMITS, type MediaLimits } from './mastodon/media.ts'
import { createOAuth } from './mastodon/oauth.ts'
import { createMastodonPlatform } from './mastodon/platform.ts'
import { createRateLimits, type RateLimits } from './mastodon/rate-limits.ts'
import { createMastodonServer } from './mastodon/server.ts'
import { openState, type Account, type App, type Status } from './mastodon/state.ts'
import { createStatuses } from './mastodon/statuses.ts'
import { codePointLength, statusLength } from './mastodon/text.ts'
import { NO_CROWD, type Crowd } from './shared/crowd.ts'
import { startSimulator, type SimulatorPlace } from './shared/simulator.ts'

export type MastodonApp = Pick<App, 'name' | 'clientId' | 'clientSecret'>

export interface MastodonOptions extends SimulatorPlace {
  /** The name of the server, on its start page and in its description. */
  title?: string
  maxCharacters?: number
  /** File types that this instance accepts. */
  types?: string[]
  /** Limits on files other than Mastodon's defaults. */
  limits?: Partial<MediaLimits>
  /** How long the processing of a video takes, milliseconds. */
  processingMs?: number
  /** Replaces the real server's limits. */
  rateLimits?: RateLimits
  /** False for servers that accept the `Idempotency-Key` and ignore it. */
  honoursKeys?: boolean
  /** False for servers without the endpoint that returns the application of a token. */
  namesApplication?: boolean
  /** False for servers that do not report which statuses were edited. */
  reportsEdits?: boolean
  /** True for servers that count code points and full links. */
  countsCodePoints?: boolean
  charactersPerUrl?: number
  /** The reported version; by default that of Mastodon where it honours keys, and that of another server otherwise. */
  version?: string
  /** False for servers before 4.0, which describe themselves only in the older document. */
  hasV2Instance?: boolean
  /** The language of error texts. */
  language?: Language
  /** True for servers that publish a status without the files that they do not have ready, as Mastodon did before 4.4. */
  dropsMedia?: boolean
  /** True for servers that show a file in a status under another id than that of its upload. */
  renamesMedia?: boolean
  /** False for servers before 4.3, which return statuses one at a time. */
  showsSeveral?: boolean
  crowd?: Crowd
}

export interface Mastodon {
  /** URL of the fault proxy in front of the server, for our service and for browsers. */
  url: string
  control: string
  /** Returns the account with this user name, created if needed. It survives a restart. */
  createAccount(input: NewAccount): Account
  /** Returns the application with this name, created if needed, and replaces its redirect URIs and scopes. */
  createApp(input: { name: string; redirectUris: string[]; scopes?: string[] }): MastodonApp
  /** Publishes as the account's owner does with the web client. */
  publishElsewhere(account: Account, text: string): Status
  rewrite(statusId: string, text: string): void
  /** Forgets all applications, as servers do with unused ones. */
  forgetApps(): void
  stop(): Promise<void>
}

/** The scopes that our service requests. */
const SCOPES = ['read:accounts', 'read:statuses', 'write:statuses', 'write:media']

/** Starts a strict simulator of one Mastodon server behind the fault proxy. All data is under `dir`. */
export async function startMastodon(options: MastodonOptions = {}): Promise<Mastodon> {
  const {
    maxCharacters = 500,
    types = MEDIA_LIMITS.types,
    processingMs = 1_000,
    showsSeveral = true,
    hasV2Instance = true,
    title = 'Mastodon sandbox',
  } = options
  const {
    honoursKeys = true,
    namesApplication = true,
    reportsEdits = true,
    countsCodePoints = false,
    dropsMedia = false,
    renamesMedia = false,
    language = 'en',
    crowd = NO_CROWD,
  } = options
  const { charactersPerUrl = 23, version = honoursKeys ? (showsSeveral ? '4.5.0' : '4.2.0') : '0.19.1+git-5a2f9c0' } =
    options
  const limits = { ...MEDIA_LIMITS, ...options.limits }
  const { fronts, ...mastodon } = await startSimulator('mastodon', options, ({ dir, urlOf }) => {
    const state = openState(join(dir, 'state.jsonl'))
    const accounts = createAccounts(state)
    const oauth = createOAuth(state, accounts)
    const base = () => urlOf('mastodon')
    const media = createMediaStore({
      state,
      dir: join(dir, 'media'),
      base,
      processingMs,
      types,
      limits,
      dropsMedia,
      renamesMedia,
    })
    const statuses = createStatuses({
      state,
      media,
      base,
      maxCharacters,
      lengthOf: countsCodePoints ? codePointLength : (text, warning) => statusLength(text, warning, charactersPerUrl),
      honoursKeys,
      reportsEdits,
      countsQuotes: showsSeveral,
      crowd,
    })
    const countRequest = createRateLimits(options.rateLimits ?? {})

    function createApp({ name, redirectUris, scopes = SCOPES }: Parameters<Mastodon['createApp']>[0]): App {
      const existing = state.apps.values().find((app) => app.name === name)
      if (!existing) return oauth.makeApp({ name, website: null, redirectUris, scopes })
      return state.apps.set(existing.clientId, { ...existing, redirectUris, scopes })
    }

    createApp({ name: 'Web', redirectUris: [], scopes: ['read', 'write'] })
    return {
      server: createMastodonServer({
        state,
        oauth,
        media,
        statuses,
        countRequest,
        base,
        title,
        maxCharacters,
        types,
        limits,
        charactersPerUrl,
        version,
        showsSeveral,
        hasV2Instance,
        namesApplication,
        language,
      }),
      fronts: { mastodon: createMastodonPlatform({ state, oauth, statuses }) },
      api: {
        createAccount: accounts.ensure,
        createApp,
        publishElsewhere: statuses.publishElsewhere,
        rewrite: statuses.rewrite,
        forgetApps: () => state.apps.values().forEach(({ clientId }) => state.apps.delete(clientId)),
      },
    }
  })
  const { url, control } = fronts['mastodon']!
  return { ...mastodon, url, control }
}
