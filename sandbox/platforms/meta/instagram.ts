import type { LedgerEntry, ProxiedPlatform } from '../fault-proxy.ts'
import type { MetaModule } from './graph.ts'
import type { ShownPost } from './pages.ts'
import type { MetaState } from './state.ts'
import type { Tokens } from './tokens.ts'

interface InstagramDeps {
  state: MetaState
  tokens: Tokens
  base(): string
}

/** Professional accounts on Instagram. Nothing is published there yet. */
export function createInstagram({ state, tokens, base }: InstagramDeps) {
  const module: MetaModule = {
    routes: [],
    node(id, { caller }) {
      const account = state.instagramAccounts.get(id)
      if (!account || caller?.person.id !== account.personId) return null
      if (!caller.token.scopes.includes('instagram_basic')) return null
      const counts = account.metrics ?? {}
      return {
        type: 'IGUser',
        byDefault: ['id'],
        fields: {
          id,
          username: account.username,
          name: account.name,
          profile_picture_url: `${base()}/picture/${id}`,
          followers_count: counts['followers'] ?? 0,
          media_count: 0,
        },
      }
    },
  }

  const platform: ProxiedPlatform = {
    ledger: async (): Promise<LedgerEntry[]> => [],

    /** The login of an account is the one of its person. */
    async revoke(id) {
      const account = state.instagramAccounts.get(id)
      if (account) tokens.end('removed', ({ personId }) => personId === account.personId)
      return account !== undefined
    },

    async expire(id) {
      const account = state.instagramAccounts.get(id)
      if (account) tokens.end('expired', ({ personId, pageId }) => personId === account.personId && pageId === null)
      return account !== undefined
    },
  }

  return { ...module, platform, posts: (): ShownPost[] => [] }
}
