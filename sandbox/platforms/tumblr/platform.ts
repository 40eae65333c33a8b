import type { LedgerEntry, ProxiedPlatform } from '../proxied-platform.ts'
import { inWordsOf } from '../shared/metric-words.ts'
import type { OAuth } from './oauth.ts'
import { textOf, WORDS, type Posts } from './posts.ts'
import { readOAuthHeader } from './signature.ts'
import type { Block, Blog, State } from './state.ts'

const PUT_POST = /^\/v2\/blog\/[^/]+\/posts\/(\d+)(?:\?|$)/

interface TumblrPlatformDeps {
  state: State
  oauth: OAuth
  posts: Posts
}

/** Creates Tumblr's part of the control interface. Accounts are identified by the id or the name of a blog. */
export function createTumblrPlatform({ state, oauth, posts }: TumblrPlatformDeps): ProxiedPlatform {
  const find = (name: string): Blog | undefined =>
    state.blogs.get(name) ?? state.blogs.values().find((blog) => blog.name === name)

  function mediaOf(block: Block) {
    const media = state.media.get(String(block['mediaId']))
    return media ? [{ type: media.mimeType, altText: block.alt_text ?? '' }] : []
  }

  return {
    async ledger(): Promise<LedgerEntry[]> {
      return state.posts
        .values()
        .filter((post) => post.state === 'published')
        .map(({ id, blogId, content, timestamp, edits }) => ({
          id,
          account: state.blogs.get(blogId)!.name,
          text: textOf(content),
          media: content.flatMap(mediaOf),
          createdAt: new Date(timestamp * 1_000).toISOString(),
          ...(edits && { edits }),
        }))
    },

    async revoke(name) {
      const blog = find(name)
      if (blog) oauth.revokeAll(blog.accountId)
      return blog !== undefined
    },

    async deletePost(id) {
      const post = state.posts.get(id)
      if (post) posts.remove(post)
      return post !== undefined
    },

    async setPostMetrics(id, metrics) {
      const post = state.posts.get(id)
      // Changed in place, since the blog's list holds the same record.
      if (post) state.posts.set(id, Object.assign(post, { metrics: { ...post.metrics, ...inWordsOf(WORDS, metrics) } }))
      return post !== undefined
    },

    async setAccountMetrics(name, metrics) {
      const blog = find(name)
      if (blog) state.blogs.set(blog.uuid, { ...blog, metrics: { ...blog.metrics, ...metrics } })
      return blog !== undefined
    },

    async publishElsewhere(name, { text, createdAt }) {
      const blog = find(name)
      if (!blog) return null
      const post = posts.publishElsewhere(blog, text, Math.floor(createdAt.getTime() / 1_000))
      return { id: post.id, url: posts.urlOf(post) }
    },

    accountOf(request) {
      const token = state.accessTokens.get(readOAuthHeader(request.headers.authorization)?.get('oauth_token') ?? '')
      const blog = token && state.blogs.values().find((one) => one.accountId === token.accountId && one.isPrimary)
      return blog?.uuid ?? null
    },

    publishes: (method, path) => method === 'PUT' && PUT_POST.test(path),

    /** Returns the text of calls that publish, and none for drafts, which are not public, and for edits. */
    textOf(body, path) {
      if (state.posts.get(PUT_POST.exec(path)?.[1] ?? '')?.state === 'published') return undefined
      try {
        const { content, state: becomes = 'published' } = JSON.parse(body) as { content: Block[]; state?: string }
        return becomes === 'published' ? textOf(content) : undefined
      } catch {
        return undefined
      }
    },
  }
}
