import { join } from 'node:path'
import { NO_CROWD, type Crowd } from './shared/crowd.ts'
import { startSimulator, type SimulatorPlace } from './shared/simulator.ts'
import { createAccounts, type NewAccount } from './tumblr/accounts.ts'
import { createLimits, type Limits } from './tumblr/limits.ts'
import { createMediaStore } from './tumblr/media.ts'
import { createOAuth } from './tumblr/oauth.ts'
import { createTumblrPlatform } from './tumblr/platform.ts'
import { createPosts, textOf } from './tumblr/posts.ts'
import { randomText } from './tumblr/random-text.ts'
import { createTumblrServer } from './tumblr/server.ts'
import { openState, type App, type Blog, type Post } from './tumblr/state.ts'

export interface TumblrOptions extends SimulatorPlace {
  /** How long the processing of a video takes, milliseconds. */
  processingMs?: number
  /** Replaces the real server's limits. */
  limits?: Limits
  /** True: the response to publishing a draft names the draft's id. */
  answersDraftId?: boolean
  /** False: the callback of a login is not confirmed. */
  confirmsCallback?: boolean
  crowd?: Crowd
}

export interface Tumblr {
  /** URL of the fault proxy in front of the server, for our service and for browsers. */
  url: string
  control: string
  /** Returns the primary blog of the account with this name, created if needed. It survives a restart. */
  createAccount(input: NewAccount): Blog & { loginId: string }
  /** Returns the application with this name, created if needed, and replaces its callback. */
  createApp(input: { name: string; callbackUrl: string }): App
  /** Publishes as the blog's author does with Tumblr's own app. */
  publishElsewhere(blog: Pick<Blog, 'uuid'>, text: string): Post
  /** Makes a post private, as its author can. */
  makePrivate(postId: string): void
  /** The texts of the drafts of a blog. */
  draftsOf(blog: Pick<Blog, 'uuid'>): { id: string; text: string }[]
  stop(): Promise<void>
}

/**
 * Starts a strict simulator of Tumblr, pages and API under one URL, behind the fault proxy. All data is under `dir`.
 */
export async function startTumblr(options: TumblrOptions = {}): Promise<Tumblr> {
  const { processingMs = 1_000, answersDraftId = false, confirmsCallback = true, crowd = NO_CROWD } = options
  const { fronts, ...tumblr } = await startSimulator('tumblr', options, ({ dir, urlOf }) => {
    const state = openState(join(dir, 'state.jsonl'))
    const base = () => urlOf('tumblr')
    const accounts = createAccounts(state)
    const oauth = createOAuth(state, accounts, confirmsCallback)
    const limits = createLimits(state, options.limits ?? {})
    const media = createMediaStore({ state, limits, dir: join(dir, 'media'), base, processingMs })
    const posts = createPosts({ state, media, limits, base, answersDraftId, crowd })

    return {
      server: createTumblrServer({ state, oauth, media, posts, limits, base, crowd }),
      fronts: { tumblr: createTumblrPlatform({ state, oauth, posts }) },
      api: {
        createAccount: accounts.ensure,

        createApp({ name, callbackUrl }: Parameters<Tumblr['createApp']>[0]): App {
          const existing = state.apps.values().find((app) => app.name === name)
          const { consumerKey, consumerSecret } = existing ?? {
            consumerKey: randomText(),
            consumerSecret: randomText(),
          }
          return state.apps.set(consumerKey, { name, consumerKey, consumerSecret, callbackUrl })
        },

        publishElsewhere: ({ uuid }: Pick<Blog, 'uuid'>, text: string) =>
          posts.publishElsewhere(state.blogs.get(uuid)!, text),

        makePrivate: posts.makePrivate,

        draftsOf: ({ uuid }: Pick<Blog, 'uuid'>) =>
          posts
            .listOf(uuid)
            .filter((post) => post.state === 'draft')
            .map(({ id, content }) => ({ id, text: textOf(content) })),
      },
    }
  })
  const { url, control } = fronts['tumblr']!
  return { ...tumblr, url, control }
}
