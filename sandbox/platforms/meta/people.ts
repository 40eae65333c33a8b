import { nameTaken } from '../shared/consent.ts'
import type { InstagramAccount, MetaState, Page, Person, Portfolio } from './state.ts'

export interface NewPage {
  name: string
  username?: string
  instagram?: NewInstagram
  /** By default all. */
  tasks?: string[]
  hasToken?: boolean
  takesDrafts?: boolean
  /** The name of a business portfolio that the page belongs to, and how. */
  portfolio?: { name: string; edge: 'owned_pages' | 'client_pages' }
}

export interface NewInstagram {
  username: string
  name?: string
}

const LONGEST_NAME = 60
/** https://developers.facebook.com/docs/pages-api/overview#tasks */
const TASKS = ['ADVERTISE', 'ANALYZE', 'CREATE_CONTENT', 'MESSAGING', 'MODERATE', 'MANAGE']

/** Persons, their pages and linked Instagram accounts, as created on the platforms themselves. */
export function createPeople(state: MetaState) {
  const named = (name: string) => state.persons.values().find((person) => person.name === name)

  function addInstagram(personId: string, { username, name = username }: NewInstagram): InstagramAccount {
    const existing = state.instagramAccounts.values().find((account) => account.username === username)
    if (existing) return state.instagramAccounts.set(existing.id, { ...existing, personId })
    const id = state.newId('17841')
    return state.instagramAccounts.set(id, { id, personId, username, name })
  }

  function addPage(personId: string, page: NewPage): Page {
    const { name, username = null, instagram, tasks = TASKS, hasToken = true, takesDrafts = true } = page
    const id = state.newId()
    const instagramId = instagram ? addInstagram(personId, instagram).id : null
    const portfolio = page.portfolio ? portfolioOf(personId, page.portfolio) : null
    const rights = { tasks, hasToken, takesDrafts }
    return state.pages.set(id, { id, personId, name, username, instagramId, portfolio, ...rights })
  }

  /** Pages of one person with the same portfolio name share it. */
  function portfolioOf(personId: string, { name, edge }: Omit<Portfolio, 'id'>): Portfolio {
    const known = state.pages.values().find((page) => page.personId === personId && page.portfolio?.name === name)
    return { id: known?.portfolio?.id ?? state.newId(), name, edge }
  }

  function ensure({ name, pages = [] }: { name: string; pages?: NewPage[] }): { person: Person; pages: Page[] } {
    const known = named(name)
    if (known) return { person: known, pages: state.pages.values().filter(({ personId }) => personId === known.id) }
    const id = state.newId()
    const person = state.persons.set(id, { id, name, grants: {} })
    return { person, pages: pages.map((page) => addPage(id, page)) }
  }

  /** Returns the person with this name; creates it with a page and an Instagram account with an unused user name. */
  function ensureWithPage(name: string): { person: Person; pages: Page[] } {
    const username = usernameOf(name)
    return ensure({ name, pages: [{ name: `Page of ${name}`, username, instagram: { username } }] })
  }

  return {
    find: state.persons.get,
    ensure,
    ensureWithPage,
    create: (name: string): Person => ensureWithPage(name).person,

    problemOf(name: string): string | null {
      const username = usernameOf(name)
      if (!/[a-z0-9]/.test(username)) return 'A name has at least one letter from a to z or one digit'
      if (name.length > LONGEST_NAME) return `A name has at most ${LONGEST_NAME} characters`
      const isUsed = state.instagramAccounts.values().some((account) => account.username === username)
      return named(name) || isUsed ? nameTaken(name) : null
    },

    linkInstagram(pageId: string, linked: NewInstagram | null): InstagramAccount | null {
      const page = state.pages.get(pageId)!
      const account = linked && addInstagram(page.personId, linked)
      state.pages.set(pageId, { ...page, instagramId: account?.id ?? null })
      return account
    },
  }
}

export type People = ReturnType<typeof createPeople>

function usernameOf(name: string): string {
  return name.toLowerCase().replace(/[^a-z0-9]+/g, '_')
}
