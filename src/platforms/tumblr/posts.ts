import type { Published } from '../../domain/posts/post.ts'
import type { CallOptions, Credentials, DeliveryLog, OutgoingPost, SearchOptions, Untraced } from '../contract.ts'
import { PlatformError } from '../errors.ts'
import { json, unreadableAnswer } from '../shared/calls.ts'
import { tokenOf } from './accounts.ts'
import { readCreated, readPosts, type Post } from './responses.ts'
import { blogPath, type Api } from './api.ts'
import { draftId, type createDrafts } from './drafts.ts'
import { isRefusedAs } from '../shared/refusals.ts'

interface PostDeps {
  api: Api
  drafts: ReturnType<typeof createDrafts>
  wwwUrl: string
  publishTimeoutMs: number
}

const PAGE = 20
const MOST_PAGES = 5

/**
 * Bringing a post out: a draft is made ahead, and the one visible call publishes it. A draft can be published once, since it gets
 * another id then; which one it was stays written on the post, for its author to see (platforms.md 7e).
 */
export function createPosts({ api, drafts, wwwUrl, publishTimeoutMs }: PostDeps) {
  async function publish(
    post: OutgoingPost,
    account: Credentials,
    delivery: DeliveryLog,
    { signal }: CallOptions,
  ): Promise<Published> {
    const { id: draft, body } = drafts.prepared(post, delivery)
    const path = blogPath(account, `posts/${encodeURIComponent(draft)}`)
    const call = { token: tokenOf(account), signal, timeoutMs: publishTimeoutMs }
    const { id } = await api.send({ method: 'PUT', path, body: json(body) }, readCreated, call).catch(draftGone)
    if (id !== draft) return published(id, account)
    // The answer may name the draft, which is not there any more.
    const found = await findPublished(draft, account, { signal }).catch(() => null)
    if (found) return published(found.id_string, account)
    throw unreadableAnswer('Tumblr')
  }

  async function reconcile(
    _post: OutgoingPost,
    account: Credentials,
    delivery: DeliveryLog,
    options: SearchOptions,
  ): Promise<Published | Untraced> {
    const draft = draftId(delivery)
    if (draft === null) return 'undecidable'
    if (await isDraft(draft, account, options)) return 'absent'
    const found = await findPublished(draft, account, options)
    return found ? published(found.id_string, account) : 'undecidable'
  }

  async function isDraft(draft: string, account: Credentials, options: CallOptions): Promise<boolean> {
    const path = blogPath(account, 'posts/draft')
    let last: Post | undefined
    for (let page = 0; page < MOST_PAGES; page++) {
      const posts = await list(path, { ...(last && { before_id: last.id_string }) }, account, options)
      if (posts.some(({ id_string }) => id_string === draft)) return true
      if (posts.length === 0) return false
      last = posts.at(-1)
    }
    return false
  }

  /** Among the newest: what has been in doubt for an hour is there, since Tumblr takes 250 posts a day. */
  async function findPublished(draft: string, account: Credentials, options: CallOptions): Promise<Post | null> {
    const path = blogPath(account, 'posts')
    for (let page = 0; page < MOST_PAGES; page++) {
      const params = { limit: String(PAGE), offset: String(page * PAGE) }
      const posts = await list(path, params, account, options)
      // guard: search by draft
      const found = posts.find(({ genesis_post_id }) => genesis_post_id === draft)
      if (found) return found
      if (posts.length === 0) return null
    }
    return null
  }

  async function list(
    path: string,
    params: Record<string, string>,
    account: Credentials,
    { signal }: CallOptions,
  ): Promise<Post[]> {
    const call = { method: 'GET', path, params: { npf: 'true', ...params } } as const
    return (await api.send(call, readPosts, { token: tokenOf(account), signal })).posts
  }

  function published(id: string, { handle }: Credentials): Published {
    return { platformPostId: id, platformPostUrl: `${wwwUrl}/${handle}/${id}` }
  }

  const { prepare, discard, warmUp } = drafts
  return { prepare, discard, warmUp, publish, reconcile }
}

/** Published by an earlier call that took its time, or thrown away by its author: the one must not be taken for the other. */
function draftGone(error: unknown): never {
  if (!isRefusedAs(error, 'missing')) throw error
  throw new PlatformError('duplicate', 'The draft of this post is no longer on Tumblr', {
    certain: false,
    cause: error,
  })
}
