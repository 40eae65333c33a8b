import type { SandboxResponse } from '../proxied-platform.ts'
import { selectFields } from '../shared/graph/fields.ts'
import { callerOf, noSuchObject, type GraphNode } from '../shared/graph/graph.ts'
import { pageThrough } from '../shared/graph/lists.ts'
import type { MetaCall, MetaModule } from './graph.ts'
import type { MetaState, Page } from './state.ts'
import { requireScopes, type Caller } from './tokens.ts'

/** A business portfolio with pages of its own and of its clients, in which a person has a role. */
interface Business {
  id: string
  personId: string
  name: string
  ownedIds: string[]
  clientIds: string[]
}

export type NewBusiness = Pick<Business, 'personId' | 'name'> & Partial<Pick<Business, 'ownedIds' | 'clientIds'>>

interface BusinessesDeps {
  state: MetaState
  pageNode(page: Page, caller: Caller): GraphNode
}

/**
 * Serves portfolios (https://developers.facebook.com/docs/marketing-api/reference/business/owned_pages, and `client_pages`). Their pages are
 * not among the person's own.
 */
export function createBusinesses({ state, pageNode }: BusinessesDeps) {
  const businesses = state.table<Business>('businesses')

  function listOwn(call: MetaCall): SandboxResponse {
    const caller = callerOf(call)
    if (call.ids[0] !== caller.person.id) throw noSuchObject(call.ids[0]!, call.method)
    requireScopes(caller, 'business_management')
    const own = businesses.values().filter(({ personId }) => personId === caller.person.id)
    return pageThrough(own.map(toDated), call.params, ({ id, name }) =>
      selectFields({ type: 'Business', fields: { id, name }, byDefault: ['name', 'id'] }, call.params.get('fields')),
    )
  }

  const listPages =
    (which: 'ownedIds' | 'clientIds') =>
    (call: MetaCall): SandboxResponse => {
      const caller = callerOf(call)
      const business = businesses.get(call.ids[0]!)
      if (business?.personId !== caller.person.id) throw noSuchObject(call.ids[0]!, call.method)
      requireScopes(caller, 'business_management')
      const pages = business[which].flatMap((id) => state.pages.get(id) ?? [])
      return pageThrough(pages.map(toDated), call.params, (page) =>
        selectFields(pageNode(page, caller), call.params.get('fields')),
      )
    }

  const module: MetaModule = {
    routes: [
      ['GET', /^\/(\d+)\/businesses$/, listOwn],
      ['GET', /^\/(\d+)\/owned_pages$/, listPages('ownedIds')],
      ['GET', /^\/(\d+)\/client_pages$/, listPages('clientIds')],
    ],
    node: () => null,
  }

  return {
    module,
    /** Moves pages of a person into a portfolio. */
    create({ ownedIds = [], clientIds = [], ...fields }: NewBusiness): Business {
      const id = state.newId()
      return businesses.set(id, { id, ...fields, ownedIds, clientIds })
    },
  }
}

/** Whether a page belongs to a portfolio, so that it is missing among the pages of its person. */
export function isInPortfolio(state: MetaState, pageId: string): boolean {
  const businesses = state.table<Business>('businesses').values()
  return businesses.some(({ ownedIds, clientIds }) => [...ownedIds, ...clientIds].includes(pageId))
}

const toDated = <T>(one: T) => ({ ...one, createdAt: 0 })
