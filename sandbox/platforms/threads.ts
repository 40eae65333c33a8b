import { randomBytes } from 'node:crypto'
import { join } from 'node:path'
import { NO_CROWD, type Crowd } from './shared/crowd.ts'
import { createContainerStore, type ContainerStore } from './shared/graph/container-store.ts'
import { createCounting } from './shared/graph/insights.ts'
import { startSimulator, type SimulatorPlace } from './shared/simulator.ts'
import { createAccounts, type NewAccount } from './threads/accounts.ts'
import { createInsights } from './threads/insights.ts'
import { createLogin } from './threads/login.ts'
import { createThreadsPlatform } from './threads/platform.ts'
import { createPosts } from './threads/posts.ts'
import { createThreadsServer } from './threads/server.ts'
import { openState, type Account, type App } from './threads/state.ts'
import { createTokens } from './threads/tokens.ts'

export interface ThreadsOptions extends SimulatorPlace {
  /** How long the processing of an image or a video takes, milliseconds. */
  processingMs?: { image: number; video: number }
  /** Posts per account and day. */
  quota?: number
  /** Replies per account and day. */
  replyQuota?: number
  crowd?: Crowd
}

export interface Threads {
  /** URL of the fault proxy in front of the server, for our service and for browsers. */
  url: string
  control: string
  /** Returns the account with this user name, created if needed. It survives a restart. */
  createAccount(input: NewAccount): Account
  /** Returns the application with this name, created if needed, and replaces its redirect URIs. */
  createApp(input: { name: string; redirectUris: string[] }): App
  /** Changes containers and posts without our service. */
  store: Pick<
    ContainerStore,
    'failNext' | 'age' | 'silence' | 'lose' | 'find' | 'publishElsewhere' | 'repostElsewhere' | 'rewrite'
  >
  /** Makes the tokens older by this time. */
  ageTokens(accountId: string, ms: number): void
  stop(): Promise<void>
}

const WORDS = { comments: 'replies', impressions: 'views' }

/** Starts a strict simulator of Threads behind the fault proxy. All data is under `dir`. */
export async function startThreads(options: ThreadsOptions = {}): Promise<Threads> {
  const { processingMs = { image: 300, video: 1_500 }, quota = 250, replyQuota = 1_000, crowd = NO_CROWD } = options
  const { fronts, ...threads } = await startSimulator('threads', options, ({ dir, urlOf }) => {
    const state = openState(join(dir, 'state.jsonl'))
    const base = () => urlOf('threads')
    const { table, newId } = state
    const store = createContainerStore({ table, newId, processingMs, counting: createCounting(WORDS, crowd) })
    const tokens = createTokens(state)
    const accounts = createAccounts(state)
    const login = createLogin({ state, tokens, accounts })
    const posts = createPosts({ state, store, base, quota: { posts: quota, replies: replyQuota } })
    const modules = [posts, createInsights({ store, crowd })]
    return {
      server: createThreadsServer({ state, store, tokens, login, modules, base }),
      fronts: { threads: createThreadsPlatform({ state, store, tokens, addressOf: posts.addressOf }) },
      api: {
        createAccount: accounts.ensure,
        createApp({ name, redirectUris }: { name: string; redirectUris: string[] }): App {
          const known = state.apps.values().find((app) => app.name === name)
          const app = known ?? { id: newId(), name, secret: randomBytes(16).toString('hex') }
          return state.apps.set(app.id, { ...app, redirectUris })
        },
        store,
        ageTokens: tokens.age,
      },
    }
  })
  const { url, control } = fronts['threads']!
  return { ...threads, url, control }
}
