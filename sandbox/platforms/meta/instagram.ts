import type { ProxiedPlatform } from '../proxied-platform.ts'
import type { Crowd } from '../shared/crowd.ts'
import { createContainerStore, type ContainerPost } from '../shared/graph/container-store.ts'
import type { GraphNode } from '../shared/graph/graph.ts'
import { createCounting } from '../shared/graph/insights.ts'
import { graphTime } from '../shared/graph/lists.ts'
import { tokenIn } from '../shared/graph/routes.ts'
import type { ShownPost } from '../shared/post-pages.ts'
import type { CommentStore } from './comment-store.ts'
import type { MetaCall, MetaModule } from './graph.ts'
import { hasEnded } from './instagram-details.ts'
import { instagramInsights } from './instagram-insights.ts'
import { instagramRoutes } from './instagram-routes.ts'
import { isShown } from './linked-accounts.ts'
import type { InstagramAccount, MetaState } from './state.ts'
import type { Tokens } from './tokens.ts'

interface InstagramDeps {
  state: MetaState
  tokens: Tokens
  comments: CommentStore
  base(): string
  /** How long the processing of an image or a video takes, milliseconds. */
  processingMs: { image: number; video: number }
  /** Limits per account and day. */
  quota: { posts: number; containers: number }
  crowd: Crowd
}

const READ_AS = {
  TEXT: ['IMAGE', 'FEED'],
  IMAGE: ['IMAGE', 'FEED'],
  VIDEO: ['VIDEO', 'REELS'],
  CAROUSEL: ['CAROUSEL_ALBUM', 'FEED'],
} as const

const WORDS = { impressions: 'views' }

/** Simulates professional accounts on Instagram and their posts. */
export function createInstagram({ state, tokens, comments, base, processingMs, quota, crowd }: InstagramDeps) {
  const store = createContainerStore({
    table: state.table,
    newId: () => state.newId('179'),
    processingMs,
    counting: createCounting(WORDS, crowd),
  })

  function accountNode(account: InstagramAccount): GraphNode {
    return {
      type: 'IGUser',
      byDefault: ['id'],
      fields: {
        id: account.id,
        username: account.username,
        name: account.name,
        biography: '',
        profile_picture_url: `${base()}/picture/${account.id}`,
        followers_count: account.metrics?.['followers'] ?? crowd.followers(Date.now()),
        media_count: store.postsOf(account.id).length,
      },
    }
  }

  function postNode(post: ContainerPost): GraphNode {
    const { likes = 0, comments: counted = 0 } = store.counting.now(post)
    const [mediaType, productType] = READ_AS[post.kind]
    const { username } = state.instagramAccounts.get(post.accountId)!
    return {
      type: 'IGMedia',
      byDefault: ['id'],
      fields: {
        id: post.id,
        caption: post.text === '' ? undefined : post.text,
        timestamp: graphTime(post.createdAt),
        permalink: `${base()}${addressOf(post, username)}`,
        shortcode: post.shortcode,
        media_type: mediaType,
        media_product_type: post.isStory ? 'STORY' : productType,
        media_url: post.files[0]?.url,
        username,
        like_count: likes,
        comments_count: counted + comments.count(post.id),
        is_shared_to_feed: post.details?.['share_to_feed'],
      },
    }
  }

  /** Returns the node with an id that this caller may see. */
  function node(id: string, { caller }: MetaCall): GraphNode | null {
    if (!caller?.token.scopes.includes('instagram_basic')) return null
    const isOwn = (accountId: string) => isShown(state, accountId, caller)
    const account = state.instagramAccounts.get(id)
    if (account) return isOwn(id) ? accountNode(account) : null
    const post = store.posts.get(id)
    // Whether the node of a story outlives it is not documented.
    if (post) return isOwn(post.accountId) && !hasEnded(post) ? postNode(post) : null
    const container = store.find(id)
    if (!container || !isOwn(container.accountId)) return null
    const code = store.statusOf(container)
    const status = code === 'ERROR' ? `Error: Media upload has failed with error code ${container.problem}` : code
    const shown = container.isSilent ? undefined : code
    return { type: 'IGContainer', byDefault: ['id'], fields: { id, status_code: shown, status: shown && status } }
  }

  const routes = [...instagramRoutes({ state, store, postNode, quota }), ...instagramInsights({ state, store })]
  const module: MetaModule = { routes, node }
  const find = (name: string) =>
    state.instagramAccounts.get(name) ?? state.instagramAccounts.values().find(({ username }) => username === name)

  const platform: ProxiedPlatform = {
    ...store.controls,
    async ledger() {
      const nameOf = (accountId: string) => state.instagramAccounts.get(accountId)?.username
      const published = store.ledger((accountId) => nameOf(accountId)!)
      return [...published, ...comments.ledger(nameOf, (postId) => store.posts.get(postId) !== undefined)]
    },

    deletePost: async (id) => (await store.controls.deletePost(id)) || comments.remove(id),

    /** The account's login is its person's login. */
    async revoke(name) {
      const account = find(name)
      if (account) tokens.end('removed', ({ personId }) => personId === account.personId)
      return account !== undefined
    },

    async expire(name) {
      const account = find(name)
      if (account) tokens.end('expired', ({ personId, pageId }) => personId === account.personId && pageId === null)
      return account !== undefined
    },

    async setAccountMetrics(name, metrics) {
      const account = find(name)
      const counts = { ...account?.metrics, ...metrics }
      if (account) state.instagramAccounts.set(account.id, { ...account, metrics: counts })
      return account !== undefined
    },

    async publishElsewhere(name, { text, createdAt }) {
      const account = find(name)
      if (!account) return null
      const post = store.publishElsewhere(account.id, text, createdAt.getTime())
      return { id: post.id, url: `${base()}${addressOf(post, account.username)}` }
    },

    /** Tokens belong to a person, so the account is the one in the path, or the person's only one. */
    accountOf(request) {
      const named = /^\/v\d+\.\d+\/(\d+)/.exec(request.url ?? '')?.[1] ?? ''
      if (state.instagramAccounts.get(named)) return named
      const token = state.tokens.get(tokenIn(request) ?? '')
      return state.instagramAccounts.values().find(({ personId }) => personId === token?.personId)?.id ?? null
    },

    publishes: (method, path) => method === 'POST' && /^\/v\d+\.\d+\/\w+\/(?:media_publish|comments)(\?|$)/.test(path),

    textOf: (body) => new URLSearchParams(body).get('message') ?? store.controls.textOf(body),
  }

  return {
    ...module,
    platform,
    store,
    /** Newest first. */
    posts: (): ShownPost[] =>
      store.posts
        .values()
        .toReversed()
        .filter((post) => !hasEnded(post))
        .map((post) => {
          const { username } = state.instagramAccounts.get(post.accountId)!
          return {
            id: post.id,
            address: addressOf(post, username),
            author: `@${username} on Instagram`,
            text: post.text,
            link: null,
            media: post.files,
            createdAt: new Date(post.createdAt).toISOString(),
          }
        }),
  }
}

function addressOf({ id, kind, shortcode, isStory }: ContainerPost, username: string): string {
  if (isStory) return `/stories/${username}/${id}/`
  return `/${kind === 'VIDEO' ? 'reel' : 'p'}/${shortcode}/`
}
