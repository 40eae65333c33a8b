import type { SandboxResponse } from '../proxied-platform.ts'
import { selectFields } from '../shared/graph/fields.ts'
import { callerOf, GraphRefusal, type GraphNode } from '../shared/graph/graph.ts'
import { pageThrough } from '../shared/graph/lists.ts'
import { isInPortfolio } from './businesses.ts'
import type { MetaCall, MetaModule } from './graph.ts'
import type { MetaState, Page, Token } from './state.ts'
import { requireScopes, type Caller, type Tokens } from './tokens.ts'

interface AccountsDeps {
  state: MetaState
  tokens: Tokens
  base(): string
  followersOf(page: Page): number
}

const DAY_MS = 86_400_000

/** Serves pages and their linked professional accounts (docs/reference/platforms.md). */
export function createAccounts({ state, tokens, base, followersOf }: AccountsDeps) {
  function listPages(call: MetaCall): SandboxResponse {
    const caller = callerOf(call)
    if (caller.page || call.ids[0] !== caller.person.id) {
      throw new GraphRefusal({
        code: 100,
        message: '(#100) Tried accessing nonexisting field (accounts) on node type (Page)',
      })
    }
    requireScopes(caller, 'pages_show_list')
    const pages = caller.token.pageIds.flatMap((id) => (isInPortfolio(state, id) ? [] : (state.pages.get(id) ?? [])))
    const dated = pages.map((page) => ({ ...page, createdAt: 0 }))
    return pageThrough(dated, call.params, (page) => {
      const node = pageNode(page, caller)
      return selectFields({ ...node, byDefault: ['access_token', 'name', 'id'] }, call.params.get('fields'))
    })
  }

  function pageNode(page: Page, caller: Caller): GraphNode {
    const seesInstagram = caller.token.scopes.includes('instagram_basic')
    return {
      type: 'Page',
      byDefault: ['name', 'id'],
      fields: {
        id: page.id,
        name: page.name,
        username: page.username ?? undefined,
        link: `${base()}/${page.id}`,
        category: 'Community',
        tasks: ['ADVERTISE', 'ANALYZE', 'CREATE_CONTENT', 'MESSAGING', 'MODERATE', 'MANAGE'],
        picture: { data: { height: 200, width: 200, is_silhouette: false, url: `${base()}/picture/${page.id}` } },
        followers_count: followersOf(page),
        fan_count: followersOf(page),
        instagram_business_account: page.instagramId !== null && seesInstagram ? { id: page.instagramId } : undefined,
        access_token: () => pageToken(page, caller).token,
      },
    }
  }

  /** Returns the page token of a login. It does not expire if the login's user token is long-lived. */
  function pageToken(page: Page, { token }: Caller): Token {
    const expiresAt = token.expiresAt - token.issuedAt > DAY_MS ? 0 : token.expiresAt
    const { appId, personId, scopes, pageIds } = token
    const existing = state.tokens
      .values()
      .find(
        (one) =>
          one.pageId === page.id &&
          one.personId === personId &&
          one.appId === appId &&
          one.expiresAt === expiresAt &&
          one.scopes.join() === scopes.join() &&
          tokens.isAlive(one),
      )
    return existing ?? tokens.issue({ appId, personId, pageId: page.id, scopes, pageIds, expiresAt })
  }

  const module: MetaModule = {
    routes: [['GET', /^\/(\d+)\/accounts$/, listPages]],
    node(id, { caller }) {
      const page = state.pages.get(id)
      const maySee = page && (caller?.page ? caller.page.id === id : caller?.token.pageIds.includes(id))
      return page && caller && maySee ? pageNode(page, caller) : null
    },
  }
  return { module, pageNode }
}
