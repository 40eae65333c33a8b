import type { IncomingMessage } from 'node:http'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import {
  type SandboxResponse,
  type Control,
  ControlError,
  type LedgerEntry,
  type ProxiedPlatform,
} from '../proxied-platform.ts'
import { readJson, writeJson } from '../json-file.ts'
import type { BlueskyAccount } from './accounts.ts'
import type { AppViewCounts, AppViewKnobs } from './app-view-counts.ts'
import { listFiles } from './pages.ts'
import { PdsCallError, type PdsClient, type StoredRecord } from './pds-client.ts'
import type { PdsThread } from './pds-host.ts'
import type { Did } from './pds-thread.ts'

interface BlueskyPlatformDeps {
  dir: string
  createAccount(input: { handle: string }): Promise<BlueskyAccount>
  counts: AppViewCounts
  appView: AppViewKnobs
  /** The base URL of the pages that show posts. */
  appUrl(): string
  pds(): PdsClient
  operator(): PdsThread['operator']
}

/** The names that the server accepts below its own domain: no hyphen at the start or the end. */
const HANDLE = /^[a-z0-9][a-z0-9-]{1,16}[a-z0-9]\.test$/
const POST_COLLECTION = 'app.bsky.feed.post'
/** The server's response to an access token older than two hours. */
const EXPIRED: SandboxResponse = {
  status: 400,
  body: { error: 'ExpiredToken', message: 'Token has expired' },
}

export interface BlueskyPlatform extends ProxiedPlatform {
  /** Removes the accounts that exist now from later ledgers. */
  forgetAccounts(): Promise<void>
}

/** Creates Bluesky's part of the control interface. */
export function createBlueskyPlatform(deps: BlueskyPlatformDeps): BlueskyPlatform {
  const { dir, counts, appView, appUrl, pds, operator } = deps
  const revokedPath = join(dir, 'revoked.json')
  const revokedAt = readJson<Record<string, number>>(revokedPath, {})
  let forgotten = new Set<string>()

  async function ledgerOf(did: string): Promise<LedgerEntry[]> {
    const account = await pds().findAccount(did)
    if (!account) return []
    const records = await pds().listRecords(did, POST_COLLECTION)
    return records.map((record) => ledgerEntry(record, account.handle))
  }

  /**
   * The server checks only the signature of access tokens, so a revoked session would work for up to two hours. The
   * proxy ends it immediately. Tokens carry whole seconds: after this second, old and new tokens differ.
   */
  async function endAccessTokens(did: string): Promise<void> {
    const now = Date.now()
    revokedAt[did] = Math.floor(now / 1_000)
    writeJson(revokedPath, revokedAt)
    await delay(1_000 - (now % 1_000))
  }

  return {
    async ledger() {
      const entries: LedgerEntry[] = []
      for (const did of await pds().listDids()) if (!forgotten.has(did)) entries.push(...(await ledgerOf(did)))
      return entries.sort((a, b) => a.createdAt.localeCompare(b.createdAt))
    },

    async forgetAccounts() {
      forgotten = new Set(await pds().listDids())
    },

    async revoke(actor) {
      const account = await pds().findAccount(actor)
      if (!account) return false
      await operator().endSessions(account.did)
      await endAccessTokens(account.did)
      return true
    },

    async expire(actor) {
      const account = await pds().findAccount(actor)
      if (account) await endAccessTokens(account.did)
      return account !== undefined
    },

    async deletePost(uri) {
      const { did, rkey } = parsePostUri(uri)
      if (!(await pds().findRecord(did, POST_COLLECTION, rkey))) return false
      await pds().call('POST', 'com.atproto.repo.deleteRecord', {
        body: { repo: did, collection: POST_COLLECTION, rkey },
        authorization: `Bearer ${await operator().accessToken(did)}`,
      })
      return true
    },

    async setPostMetrics(uri, metrics) {
      const { did, rkey } = parsePostUri(uri)
      const exists = (await pds().findRecord(did, POST_COLLECTION, rkey)) !== undefined
      if (exists) counts.setPostCounts(uri, metrics)
      return exists
    },

    async setAccountMetrics(actor, metrics) {
      const account = await pds().findAccount(actor)
      if (account) counts.setAccountCounts(account.did, metrics)
      return account !== undefined
    },

    async publishElsewhere(actor, { text, createdAt }) {
      const account = await pds().findAccount(actor)
      if (!account) return null
      const record = { $type: POST_COLLECTION, text, createdAt: createdAt.toISOString() }
      const { uri } = (await pds().call('POST', 'com.atproto.repo.createRecord', {
        body: { repo: account.did, collection: POST_COLLECTION, record },
        authorization: `Bearer ${await operator().accessToken(account.did)}`,
      })) as { uri: string }
      return { id: uri, url: `${appUrl()}/profile/${account.did}/post/${parsePostUri(uri).rkey}` }
    },

    refuse(request) {
      const token = tokenOf(request)
      // The server itself rejects revoked refresh tokens.
      if (!token || token.scope === 'com.atproto.refresh') return undefined
      return token.iat <= (revokedAt[token.sub] ?? 0) ? EXPIRED : undefined
    },

    accountOf(request) {
      const { sub, iss } = tokenOf(request) ?? {}
      return sub ?? iss ?? null
    },

    publishes: (method, path) => method === 'POST' && /^\/xrpc\/com\.atproto\.repo\.(put|create)Record\b/.test(path),

    controls: [...appViewControls(appView), accountControl(deps)],

    textOf(body) {
      try {
        const { collection, record } = JSON.parse(body) as { collection?: string; record?: { text?: unknown } }
        return collection === POST_COLLECTION ? String(record?.text) : undefined
      } catch {
        return undefined
      }
    },
  }
}

/** Adds `POST /app-view {lagMs}` and `POST /posts/:id/hide`. */
function appViewControls(appView: AppViewKnobs): Control[] {
  return [
    [
      'POST',
      /^\/app-view$/,
      async ({ body }) => {
        const { lagMs } = (await body()) as { lagMs?: unknown }
        if (!Number.isInteger(lagMs) || (lagMs as number) < 0) throw new ControlError(400, 'lagMs must be an integer')
        appView.lagMs = lagMs as number
      },
    ],
    ['POST', /^\/posts\/(.+)\/hide$/, ({ id }) => void appView.hidden.add(id)],
  ]
}

/** Adds `POST /accounts {handle}`, which returns the credentials; the same handle is the same account. */
function accountControl({ createAccount }: Pick<BlueskyPlatformDeps, 'createAccount'>): Control {
  return [
    'POST',
    /^\/accounts$/,
    async ({ body }) => {
      const { handle } = (await body()) as { handle?: unknown }
      if (typeof handle !== 'string' || !HANDLE.test(handle)) {
        throw new ControlError(400, 'A handle has 3 to 18 lower-case letters, digits and hyphens, and ends in .test')
      }
      try {
        const { did, appPassword } = await createAccount({ handle })
        return { did, identifier: handle, appPassword }
      } catch (error) {
        if (!(error instanceof PdsCallError) || error.status >= 500) throw error
        throw new ControlError(400, error.message)
      }
    },
  ]
}

function ledgerEntry({ uri, value }: StoredRecord, account: string): LedgerEntry {
  const reply = value['reply'] as { parent: { uri: string } } | undefined
  return {
    id: uri,
    account,
    text: String(value['text']),
    media: listFiles(value).map(({ mimeType: type, altText }) => ({ type, altText })),
    createdAt: String(value['createdAt']),
    ...(reply && { replyTo: reply.parent.uri }),
  }
}

function parsePostUri(uri: string): { did: Did; rkey: string } {
  const [, did = 'did:none:', rkey = ''] = /^at:\/\/([^/]+)\/app\.bsky\.feed\.post\/([^/]+)$/.exec(uri) ?? []
  return { did: did as Did, rkey }
}

interface TokenClaims {
  sub: string
  /** The account in tokens for another service, which have no `sub`. */
  iss?: string
  iat: number
  scope: string
}

/** Reads the unverified claims of the bearer, used only to refuse requests and to identify accounts. */
function tokenOf(request: IncomingMessage): TokenClaims | undefined {
  const [, payload] = /^Bearer [^.]+\.([^.]+)\.[^.]+$/.exec(request.headers.authorization ?? '') ?? []
  if (!payload) return undefined
  try {
    return JSON.parse(Buffer.from(payload, 'base64url').toString()) as TokenClaims
  } catch {
    return undefined
  }
}
