import type { LedgerEntry, ProxiedPlatform } from '../proxied-platform.ts'
import type { Counting } from '../shared/graph/insights.ts'
import { tokenIn } from '../shared/graph/routes.ts'
import type { ShownPost } from '../shared/post-pages.ts'
import type { CommentStore } from './comment-store.ts'
import type { PagePosts } from './page-posts.ts'
import type { MetaState, PagePost } from './state.ts'
import type { Tokens } from './tokens.ts'

interface FacebookDeps {
  state: MetaState
  tokens: Tokens
  posts: PagePosts
  comments: CommentStore
  counting: Counting
}

/** Calls that create a post or a comment, or publish a draft or edit a post by its id. */
const VISIBLE = /^(?:\/v\d+\.\d+)?\/(?:\w+\/(?:feed|videos|comments)|(\d+(?:_\d+)?))(?:\?|$)/

/** Creates Facebook's part of the control interface. Accounts are pages or persons, by their id. */
export function createFacebookPlatform({ state, tokens, posts, comments, counting }: FacebookDeps): ProxiedPlatform {
  /** A video is counted by its own id, which its creator receives. */
  const idOf = ({ id, videoId }: PagePost) => videoId ?? id
  const find = posts.findPost

  /** A video whose processing fails is never public. */
  const isBroken = (videoId: string | null) => videoId !== null && state.videos.get(videoId)!.problem !== null

  return {
    controls: counting.controls,

    async ledger(): Promise<LedgerEntry[]> {
      const published = state.posts
        .values()
        .filter(({ publishedAt, videoId }) => publishedAt !== null && !isBroken(videoId))
        .map((post) => ({
          id: idOf(post),
          account: post.pageId,
          text: post.message,
          media: mediaOf(state, post).map(({ mimeType, altText }) => ({ type: mimeType, altText })),
          createdAt: new Date(post.publishedAt!).toISOString(),
          ...(post.edits && { edits: post.edits }),
        }))
      return [
        ...published,
        ...comments.ledger(
          (authorId) => state.pages.get(authorId)?.id,
          (postId) => find(postId) !== undefined,
        ),
      ]
    },

    /** For a page: its person loses the role on it. For a person: they remove the application. */
    async revoke(id) {
      if (state.pages.get(id)) tokens.end('role', ({ pageId }) => pageId === id)
      else if (state.persons.get(id)) tokens.end('removed', ({ personId }) => personId === id)
      else return false
      return true
    },

    /** For a person: the login expires, while page tokens do not. For a page: the password was changed. */
    async expire(id) {
      if (state.pages.get(id)) tokens.end('password', ({ pageId }) => pageId === id)
      else if (state.persons.get(id))
        tokens.end('expired', ({ personId, pageId }) => personId === id && pageId === null)
      else return false
      return true
    },

    async deletePost(id) {
      const post = find(id)
      if (post) posts.remove(post)
      return post !== undefined || comments.remove(id)
    },

    async setPostMetrics(id, metrics) {
      const post = find(id)
      // Changed in place, since the page's list holds the same record.
      if (post) state.posts.set(post.id, Object.assign(post, { counted: counting.add(post.counted, metrics) }))
      return post !== undefined
    },

    async setAccountMetrics(id, metrics) {
      const page = state.pages.get(id)
      if (page) state.pages.set(id, { ...page, metrics: { ...page.metrics, ...metrics } })
      return page !== undefined
    },

    async publishElsewhere(id, { text, createdAt }) {
      const page = state.pages.get(id)
      if (!page) return null
      const post = posts.publishElsewhere(page, text, createdAt.getTime())
      return { id: post.id, url: posts.addressOf(post) }
    },

    accountOf(request) {
      const token = state.tokens.get(tokenIn(request) ?? '')
      return token ? (token.pageId ?? token.personId) : null
    },

    publishes: (method, path) => method === 'POST' && VISIBLE.test(path),

    textOf(body, path) {
      const draft = VISIBLE.exec(path)?.[1]
      const params = new URLSearchParams(body)
      // With a message, it is an edit.
      if (draft !== undefined) return params.has('message') ? undefined : find(draft)?.message
      if (params.get('published') === 'false') return undefined
      return params.get('message') ?? params.get('description') ?? ''
    },
  }
}

/** Drafts are not shown. */
export function shownPosts(state: MetaState, posts: PagePosts, which: PagePost[]): ShownPost[] {
  const published = which.filter(({ publishedAt }) => publishedAt !== null)
  return published.map((post) => ({
    id: post.id,
    address: new URL(posts.addressOf(post)).pathname,
    author: state.pages.get(post.pageId)!.name,
    text: post.message,
    link: post.link,
    media: mediaOf(state, post),
    createdAt: new Date(post.publishedAt!).toISOString(),
    ...(!posts.isReady(post.videoId) && { note: 'The video is still being processed' }),
  }))
}

function mediaOf(state: MetaState, { photoIds, videoId }: PagePost) {
  const photos = photoIds.map((id) => state.photos.get(id)!)
  const video = videoId === null ? undefined : state.videos.get(videoId)
  return [...photos, ...(video ? [{ ...video, altText: '' }] : [])]
}
