import type { ProxiedPlatform } from '../proxied-platform.ts'
import type { ContainerPost, ContainerStore } from '../shared/graph/container-store.ts'
import type { Account, State } from './state.ts'
import type { Tokens } from './tokens.ts'

interface PlatformDeps {
  state: State
  store: ContainerStore
  tokens: Tokens
  addressOf(post: ContainerPost): string
}

/** Creates Threads' part of the control interface. Accounts are identified by id or user name. */
export function createThreadsPlatform({ state, store, tokens, addressOf }: PlatformDeps): ProxiedPlatform {
  const find = (name: string): Account | undefined =>
    state.accounts.get(name) ?? state.accounts.values().find(({ username }) => username === name)

  function ended(name: string, end: (accountId: string) => void): boolean {
    const account = find(name)
    if (account) end(account.id)
    return account !== undefined
  }

  return {
    ...store.controls,
    ledger: async () => store.ledger((accountId) => state.accounts.get(accountId)!.username),
    revoke: async (name) => ended(name, tokens.revokeAll),
    expire: async (name) => ended(name, tokens.expireAll),

    async setAccountMetrics(name, metrics) {
      const account = find(name)
      if (account) state.accounts.set(account.id, { ...account, metrics: { ...account.metrics, ...metrics } })
      return account !== undefined
    },

    async publishElsewhere(name, { text, createdAt }) {
      const account = find(name)
      if (!account) return null
      const post = store.publishElsewhere(account.id, text, createdAt.getTime())
      return { id: post.id, url: addressOf(post) }
    },

    /** Calls that create have the token in the body and the account in the path. */
    accountOf({ url = '' }) {
      const token = /[?&]access_token=([^&]+)/.exec(url)?.[1] ?? ''
      const named = /^\/v1\.0\/(\d+)/.exec(url)?.[1] ?? ''
      return state.tokens.get(token)?.accountId ?? state.accounts.get(named)?.id ?? null
    },

    publishes: (method, path) => method === 'POST' && /^\/v1\.0\/\w+\/threads_publish(\?|$)/.test(path),
  }
}
