import { randomBytes } from 'node:crypto'
import { join } from 'node:path'
import { createAccounts } from './meta/accounts.ts'
import { createCommentStore } from './meta/comment-store.ts'
import { createComments } from './meta/comments.ts'
import { createFacebookPlatform } from './meta/facebook.ts'
import { createInstagram } from './meta/instagram.ts'
import { createLogin } from './meta/login.ts'
import { createPageInsights } from './meta/page-insights.ts'
import { createPagePosts } from './meta/page-posts.ts'
import { createPeople, type NewInstagram, type NewPage } from './meta/people.ts'
import { createMetaServer } from './meta/server.ts'
import {
  openState,
  type App,
  type Comment,
  type InstagramAccount,
  type Page,
  type PagePost,
  type Person,
} from './meta/state.ts'
import { createTokens } from './meta/tokens.ts'
import type { ContainerStore } from './shared/graph/container-store.ts'
import { createCounting } from './shared/graph/insights.ts'
import { NO_CROWD, type Crowd } from './shared/crowd.ts'
import { startSimulator, type Front, type SimulatorPlace } from './shared/simulator.ts'

export interface MetaOptions extends SimulatorPlace {
  /** How long the processing of a video takes, milliseconds. */
  processingMs?: number
  /** How long the processing of an image on Instagram takes, milliseconds. */
  imageProcessingMs?: number
  /** How long a new video cannot be read by its id, milliseconds. */
  unreadableMs?: number
  /** Calls per page and hour. */
  callsPerHour?: number
  /** Each login lists the person's pages in another order. */
  changesPageOrder?: boolean
  /** The limits per Instagram account and day. */
  instagramQuota?: { posts: number; containers: number }
  crowds?: Record<'facebook' | 'instagram', Crowd>
}

export interface Meta {
  /** The front for pages and logins, for our service and for browsers. */
  facebook: Front
  instagram: Front
  /** Returns the person with this name and their pages, created if needed. They survive a restart. */
  createPerson(input: { name: string; pages?: NewPage[] }): { person: Person; pages: Page[] }
  /** Returns the person with this name, a page and a linked Instagram account, created if needed. */
  createPersonWithPage(name: string): { person: Person; pages: Page[] }
  /** Links a page to another professional account of the same person, or to none. */
  linkInstagram(pageId: string, instagram: NewInstagram | null): InstagramAccount | null
  /** Returns the application with this name, created if needed, and replaces its redirect URIs. */
  createApp(input: { name: string; redirectUris: string[] }): App
  /** Publishes as a person does on the page itself. */
  publishElsewhere(page: Pick<Page, 'id'>, message: string): PagePost
  rewrite(postId: string, message: string): void
  /** Comments below a post as a person or an account does on the platform itself. */
  commentElsewhere(postId: string, authorId: string, text: string): Comment
  /** The next videos of pages are accepted, and their processing fails for these reasons. */
  failNextVideo(...problems: string[]): void
  /** Changes containers and posts on Instagram without our service. */
  instagramStore: ContainerStore
  stop(): Promise<void>
}

const PAGE_WORDS = { likes: 'reactions', impressions: 'post_media_view', reach: 'post_total_media_view_unique' }

/**
 * Starts a strict simulator of the Graph API for Facebook Pages and Instagram: one server behind two fault proxies. All
 * data is under `dir`.
 */
export async function startMeta(options: MetaOptions = {}): Promise<Meta> {
  const { processingMs = 1_000, imageProcessingMs = 300, unreadableMs = 200, callsPerHour = 100_000 } = options
  const { changesPageOrder = false } = options
  const { instagramQuota = { posts: 100, containers: 400 } } = options
  const { crowds = { facebook: NO_CROWD, instagram: NO_CROWD } } = options
  const { fronts, ...meta } = await startSimulator('meta', options, ({ dir, urlOf }) => {
    const state = openState(join(dir, 'state.jsonl'))
    const tokens = createTokens(state)
    const base = () => urlOf('facebook')
    const counting = createCounting(PAGE_WORDS, crowds.facebook)
    const comments = createCommentStore(state)
    const posts = createPagePosts({ state, comments, counting, base, processingMs, unreadableMs })
    const people = createPeople(state)
    const login = createLogin({ state, tokens, people, changesPageOrder })
    const instagram = createInstagram({
      state,
      tokens,
      comments,
      base: () => urlOf('instagram'),
      processingMs: { image: imageProcessingMs, video: processingMs },
      quota: instagramQuota,
      crowd: crowds.instagram,
    })
    const followersOf = ({ metrics }: Page) => metrics?.['followers'] ?? crowds.facebook.followers(Date.now())
    const accounts = createAccounts({ state, tokens, base, followersOf })
    const pages = [accounts, posts, createPageInsights({ state, counting, followersOf })]
    const modules = [login, ...pages, instagram, createComments({ state, comments, posts, store: instagram.store })]
    return {
      server: createMetaServer({ state, tokens, login, posts, instagram, modules, base, callsPerHour }),
      fronts: {
        facebook: createFacebookPlatform({ state, tokens, posts, comments, counting }),
        instagram: instagram.platform,
      },
      api: {
        createPerson: people.ensure,
        createPersonWithPage: people.ensureWithPage,
        linkInstagram: people.linkInstagram,
        createApp({ name, redirectUris }: { name: string; redirectUris: string[] }): App {
          const known = state.apps.values().find((app) => app.name === name)
          const app = known ?? { id: state.newId(), secret: randomBytes(16).toString('hex'), name }
          return state.apps.set(app.id, { ...app, redirectUris })
        },
        publishElsewhere: posts.publishElsewhere,
        rewrite: posts.rewrite,
        commentElsewhere: (postId: string, authorId: string, text: string) =>
          comments.add({ id: state.newId('1_'), postId, authorId, text }),
        failNextVideo: posts.failNextVideo,
        instagramStore: instagram.store,
      },
    }
  })
  return { ...meta, facebook: fronts['facebook']!, instagram: fronts['instagram']! }
}
