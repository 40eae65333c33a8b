import type { LedgerEntry, ProxiedPlatform } from '../proxied-platform.ts'
import { inWordsOf } from '../shared/metric-words.ts'
import type { OAuth } from './oauth.ts'
import type { Account, State } from './state.ts'
import { WORDS, type Statuses } from './statuses.ts'

interface MastodonPlatformDeps {
  state: State
  oauth: OAuth
  statuses: Statuses
}

/** Creates Mastodon's part of the control interface. Accounts are identified by id or user name. */
export function createMastodonPlatform({ state, oauth, statuses }: MastodonPlatformDeps): ProxiedPlatform {
  const find = (name: string): Account | undefined =>
    state.accounts.get(name) ?? state.accounts.values().find(({ username }) => username === name)

  return {
    async ledger(): Promise<LedgerEntry[]> {
      return state.statuses.values().map((status) => ({
        id: status.id,
        account: state.accounts.get(status.accountId)!.username,
        text: status.text,
        media: status.mediaIds.map((id) => {
          const { mimeType, description } = state.media.get(id)!
          return { type: mimeType, altText: description ?? '' }
        }),
        createdAt: status.createdAt,
        ...(status.inReplyToId !== undefined && { replyTo: status.inReplyToId }),
        ...(status.edits && { edits: status.edits }),
      }))
    },

    async revoke(name) {
      const account = find(name)
      if (account) oauth.revokeAll(account.id)
      return account !== undefined
    },

    async deletePost(id) {
      const status = state.statuses.get(id)
      if (status) statuses.remove(status)
      return status !== undefined
    },

    async setPostMetrics(id, metrics) {
      const status = state.statuses.get(id)
      // Changed in place, since the account's list holds the same record.
      if (status)
        state.statuses.set(id, Object.assign(status, { metrics: { ...status.metrics, ...inWordsOf(WORDS, metrics) } }))
      return status !== undefined
    },

    async setAccountMetrics(name, metrics) {
      const account = find(name)
      if (account) state.accounts.set(account.id, { ...account, metrics: { ...account.metrics, ...metrics } })
      return account !== undefined
    },

    async publishElsewhere(name, { text, createdAt }) {
      const account = find(name)
      if (!account) return null
      const status = statuses.publishElsewhere(account, text, createdAt)
      return { id: status.id, url: statuses.urlOf(status) }
    },

    accountOf(request) {
      const [, token = ''] = /^Bearer (\S+)$/i.exec(request.headers.authorization ?? '') ?? []
      return state.tokens.get(token)?.accountId ?? null
    },

    publishes: (method, path) => method === 'POST' && /^\/api\/v1\/statuses(\?|$)/.test(path),

    textOf(body) {
      try {
        return (JSON.parse(body) as { status?: string }).status ?? ''
      } catch {
        return new URLSearchParams(body).get('status') ?? undefined
      }
    },
  }
}
