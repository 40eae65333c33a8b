import { randomBytes } from 'node:crypto'
import { join } from 'node:path'
import { createAccounts } from './meta/accounts.ts'
import { createFacebookPlatform } from './meta/facebook.ts'
import { createInstagram } from './meta/instagram.ts'
import { createLogin } from './meta/login.ts'
import { createPageInsights } from './meta/page-insights.ts'
import { createPagePosts } from './meta/page-posts.ts'
import { createMetaServer } from './meta/server.ts'
import {
  openState,
  type App,
  type InstagramAccount,
  type MetaState,
  type Page,
  type PagePost,
  type Person,
} from './meta/state.ts'
import { createTokens } from './meta/tokens.ts'
import type { ContainerStore } from './shared/graph/container-store.ts'
import { createCounting } from './shared/graph/insights.ts'
import { NOBODY, type Crowd } from './shared/crowd.ts'
import { startSimulator, type Front, type SimulatorPlace } from './shared/simulator.ts'

export interface MetaOptions extends SimulatorPlace {
  /** How long the work on a video takes. */
  processingMs?: number
  /** The same on an image, on Instagram. */
  imageProcessingMs?: number
  /** How long a new video cannot be asked about by its id. */
  unreadableMs?: number
  /** About one page. */
  callsPerHour?: number
  /** Of an Instagram account within a day. */
  instagramQuota?: { posts: number; containers: number }
  crowds?: Record<'facebook' | 'instagram', Crowd>
}

interface NewPage {
  name: string
  username?: string
  instagram?: NewInstagram
}

interface NewInstagram {
  username: string
  name?: string
}

export interface Meta {
  /** What our service talks to for pages and logins, and what a browser opens. */
  facebook: Front
  instagram: Front
  /** The person with this name and their pages, made if there is none; the same again after a restart. */
  createPerson(input: { name: string; pages?: NewPage[] }): { person: Person; pages: Page[] }
  /** Links a page to another professional account, which is then its person's, or to none. */
  linkInstagram(pageId: string, instagram: NewInstagram | null): InstagramAccount | null
  /** The application with this name, made if there is none; its redirect URIs become the given ones. */
  createApp(input: { name: string; redirectUris: string[] }): App
  /** As somebody does at the page itself. */
  publishElsewhere(page: Pick<Page, 'id'>, message: string): PagePost
  rewrite(postId: string, message: string): void
  /** What happens to containers and posts on Instagram without our doing. */
  instagramStore: Pick<ContainerStore, 'failNext' | 'age' | 'find' | 'publishElsewhere' | 'rewrite'>
  stop(): Promise<void>
}

const PAGE_WORDS = { likes: 'reactions', impressions: 'post_media_view', reach: 'post_total_media_view_unique' }

/** A strict simulator of the Graph API of Facebook Pages and Instagram: one server behind two fault proxies. All data is under `dir`. */
export async function startMeta(options: MetaOptions = {}): Promise<Meta> {
  const { processingMs = 1_000, imageProcessingMs = 300, unreadableMs = 200, callsPerHour = 100_000 } = options
  const { instagramQuota = { posts: 100, containers: 400 } } = options
  const { crowds = { facebook: NOBODY, instagram: NOBODY } } = options
  const { fronts, ...meta } = await startSimulator('meta', options, ({ dir, urlOf }) => {
    const state = openState(join(dir, 'state.jsonl'))
    const tokens = createTokens(state)
    const base = () => urlOf('facebook')
    const counting = createCounting(PAGE_WORDS, crowds.facebook)
    const posts = createPagePosts({ state, counting, base, processingMs, unreadableMs })
    const login = createLogin({ state, tokens })
    const instagram = createInstagram({
      state,
      tokens,
      base: () => urlOf('instagram'),
      processingMs: { image: imageProcessingMs, video: processingMs },
      quota: instagramQuota,
      crowd: crowds.instagram,
    })
    const followersOf = ({ metrics }: Page) => metrics?.['followers'] ?? crowds.facebook.followers(Date.now())
    const accounts = createAccounts({ state, tokens, base, followersOf })
    const pages = [accounts, posts, createPageInsights({ state, counting, followersOf })]
    const modules = [login, ...pages, instagram]
    return {
      server: createMetaServer({ state, tokens, login, posts, instagram, modules, base, callsPerHour }),
      fronts: { facebook: createFacebookPlatform({ state, tokens, posts, counting }), instagram: instagram.platform },
      api: {
        ...createMakers(state),
        publishElsewhere: posts.publishElsewhere,
        rewrite: posts.rewrite,
        instagramStore: instagram.store,
      },
    }
  })
  return { ...meta, facebook: fronts['facebook']!, instagram: fronts['instagram']! }
}

/** Makes what people make of themselves elsewhere. */
function createMakers(state: MetaState) {
  function makeInstagram(personId: string, { username, name = username }: NewInstagram): InstagramAccount {
    const existing = state.instagramAccounts.values().find((account) => account.username === username)
    if (existing) return state.instagramAccounts.set(existing.id, { ...existing, personId })
    const id = state.newId('17841')
    return state.instagramAccounts.set(id, { id, personId, username, name })
  }

  function makePage(
    personId: string,
    { name, username = null, instagram }: Omit<NewPage, 'username'> & { username?: string | null },
  ): Page {
    const id = state.newId()
    const instagramId = instagram ? makeInstagram(personId, instagram).id : null
    return state.pages.set(id, { id, personId, name, username, instagramId })
  }

  return {
    createPerson({ name, pages = [] }: { name: string; pages?: NewPage[] }): { person: Person; pages: Page[] } {
      const known = state.persons.values().find((person) => person.name === name)
      if (known) return { person: known, pages: state.pages.values().filter(({ personId }) => personId === known.id) }
      const id = state.newId()
      const person = state.persons.set(id, { id, name, grants: {} })
      return { person, pages: pages.map((page) => makePage(id, page)) }
    },

    linkInstagram(pageId: string, linked: NewInstagram | null): InstagramAccount | null {
      const page = state.pages.get(pageId)!
      const account = linked && makeInstagram(page.personId, linked)
      state.pages.set(pageId, { ...page, instagramId: account?.id ?? null })
      return account
    },

    createApp({ name, redirectUris }: { name: string; redirectUris: string[] }): App {
      const known = state.apps.values().find((app) => app.name === name)
      const app = known ?? { id: state.newId(), secret: randomBytes(16).toString('hex'), name }
      return state.apps.set(app.id, { ...app, redirectUris })
    },
  }
}
