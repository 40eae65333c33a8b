import type { Published } from '../../domain/posts/post.ts'
import { CLOCK_TOLERANCE_MS, listSince } from '../shared/list-since.ts'
import { SECOND } from '../../domain/shared/times.ts'
import type {
  CallOptions,
  Credentials,
  DeliveryCheckpoints,
  OutgoingPost,
  SearchOptions,
  NotFoundResult,
} from '../contract.ts'
import { PlatformError } from '../errors.ts'
import { toJsonBody, toUnreadableError } from '../shared/calls.ts'
import { toTokenPair } from './accounts.ts'
import { readCreated, readPost, readPosts, type Post } from './responses.ts'
import { toBlogPath, type Api } from './api.ts'
import { toTextBlocks } from './content.ts'
import { getDraftId, type createDrafts } from './drafts.ts'
import { isRefusedAs } from '../shared/refusals.ts'
import { searchRestored } from '../shared/restored-search.ts'
import { normalizeWhitespace } from '../shared/text-difference.ts'

interface PostDeps {
  api: Api
  drafts: ReturnType<typeof createDrafts>
  wwwUrl: string
  publishTimeoutMs: number
}

const PAGE = 20
const MAX_PAGES = 5
/** As many posts as Tumblr accepts in a day. */
const MAX_RESTORED_PAGES = 13

/**
 * Publishes drafts and reconciles unknown outcomes. A draft can be published only once, because the post gets a new id.
 * Its author can read the draft's id in `genesis_post_id` (docs/design/exactly-once.md). No list shows private posts, which may keep the id.
 */
export function createPosts({ api, drafts, wwwUrl, publishTimeoutMs }: PostDeps) {
  async function publish(
    post: OutgoingPost,
    account: Credentials,
    delivery: DeliveryCheckpoints,
    { signal }: CallOptions,
  ): Promise<Published> {
    const { id: draft, body } = drafts.getPrepared(post, delivery)
    const path = toBlogPath(account, `posts/${encodeURIComponent(draft)}`)
    const call = { token: toTokenPair(account), signal, timeoutMs: publishTimeoutMs }
    try {
      const { id } = await api.send({ method: 'PUT', path, body: toJsonBody(body) }, readCreated, call)
      if (id !== draft) return toPublished(id, account)
    } catch (error) {
      if (!isRefusedAs(error, 'missing')) throw error
      return publishedDespite(error, { post, account, delivery, signal })
    }
    // The response may name the draft, which no longer exists.
    const found = await findSuccessor(draft, post, account, { signal }).catch(() => null)
    if (found) return toPublished(found.id_string, account)
    throw toUnreadableError('Tumblr')
  }

  /**
   * Returns the post of a draft that a 404 says does not exist: what answered may have published it before.
   * @throws PlatformError `media_not_ready` when the draft was deleted before this first call; `duplicate` when that is not certain
   */
  async function publishedDespite(
    cause: PlatformError,
    {
      post,
      account,
      delivery,
      signal,
    }: { post: OutgoingPost; account: Credentials; delivery: DeliveryCheckpoints } & CallOptions,
  ): Promise<Published> {
    const found = await findSuccessor(getDraftId(delivery)!, post, account, { signal }).catch(() => undefined)
    if (found) return toPublished(found.id_string, account)
    const message = 'The draft of this post is no longer on Tumblr'
    // After an earlier call it may also be published and deleted.
    if (found === undefined || delivery.isRepeat) {
      throw new PlatformError('duplicate', message, { certain: false, answered: true, cause })
    }
    await drafts.forget(delivery)
    throw new PlatformError('media_not_ready', `${message}, so it is created again`, { certain: true, cause })
  }

  async function reconcile(
    post: OutgoingPost,
    account: Credentials,
    delivery: DeliveryCheckpoints,
    options: SearchOptions,
  ): Promise<Published | NotFoundResult> {
    const draft = getDraftId(delivery)
    // It was never created, or no longer there for the first call: then nothing was published.
    if (draft === null) return options.isRestored ? findRestored(post, account, delivery, options) : 'absent'
    if (await isDraft(draft, account, options)) return 'absent'
    const found = await findSuccessor(draft, post, account, options)
    if (found && !(await options.isTaken(found.id_string))) return toPublished(found.id_string, account)
    if (!found && !options.isRestored) return 'undecidable'
    // After a restore, an equal post that was searched for by its content may have taken this one.
    const other = options.isRestored ? await findRestored(post, account, delivery, options) : 'absent'
    // The draft is gone, so a repeat needs another one.
    if (other === 'absent') await drafts.forget(delivery)
    return other
  }

  /** Finds a post by its content: it may have been made from another draft than a restored delivery has. */
  async function findRestored(
    { content, options: { tumblr } }: OutgoingPost,
    account: Credentials,
    { startedAt }: DeliveryCheckpoints,
    options: SearchOptions,
  ): Promise<Published | NotFoundResult> {
    if (tumblr?.state === 'private') return 'undecidable'
    const expected = toTextBlocks(content.text).map(({ text }) => text)
    const found = await searchRestored(
      await listPostsSince(startedAt.getTime() - CLOCK_TOLERANCE_MS, account, options),
      {
        content,
        toId: ({ id_string }) => id_string,
        toText,
        isSame: (one) =>
          normalizeWhitespace(toText(one)) === normalizeWhitespace(expected.join(' ')) &&
          countFiles(one) === content.mediaItems.length,
      },
      options,
    )
    return typeof found === 'string' ? found : toPublished(found.id_string, account)
  }

  /** Returns the newest first; `null` when there are too many to search. */
  async function listPostsSince(since: number, account: Credentials, options: CallOptions): Promise<Post[] | null> {
    const path = toBlogPath(account, 'posts')
    const { found, isComplete } = await listSince({
      since,
      maxPages: MAX_RESTORED_PAGES,
      toTime: ({ timestamp = Infinity }: Post) => timestamp * SECOND,
      async load(offset = '0') {
        const posts = await list(path, { limit: String(PAGE), offset }, account, options)
        return { found: posts, next: posts.length === 0 ? undefined : String(Number(offset) + PAGE) }
      },
    })
    return isComplete ? found : null
  }

  async function isDraft(draft: string, account: Credentials, options: CallOptions): Promise<boolean> {
    const path = toBlogPath(account, 'posts/draft')
    let last: Post | undefined
    for (let page = 0; page < MAX_PAGES; page++) {
      const posts = await list(path, { ...(last && { before_id: last.id_string }) }, account, options)
      if (posts.some(({ id_string }) => id_string === draft)) return true
      if (posts.length === 0) return false
      last = posts.at(-1)
    }
    return false
  }

  /** Returns the post that a draft became. */
  async function findSuccessor(
    draft: string,
    { options: { tumblr } }: OutgoingPost,
    account: Credentials,
    options: CallOptions,
  ): Promise<Post | null> {
    const same = tumblr?.state === 'private' ? await findPost(draft, account, options) : null
    return same?.state === 'private' ? same : findPublished(draft, account, options)
  }

  async function findPost(id: string, account: Credentials, { signal }: CallOptions): Promise<Post | null> {
    const call = { method: 'GET', path: toBlogPath(account, `posts/${encodeURIComponent(id)}`) } as const
    return api.send(call, readPost, { token: toTokenPair(account), signal }).catch((error: unknown) => {
      if (isRefusedAs(error, 'missing')) return null
      throw error
    })
  }

  /** Searches the newest posts. A post from the last hour is among them, since Tumblr accepts 250 posts a day. */
  async function findPublished(draft: string, account: Credentials, options: CallOptions): Promise<Post | null> {
    const path = toBlogPath(account, 'posts')
    for (let page = 0; page < MAX_PAGES; page++) {
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
    return (await api.send(call, readPosts, { token: toTokenPair(account), signal })).posts
  }

  function toPublished(id: string, { handle }: Credentials): Published {
    return { platformPostId: id, platformPostUrl: `${wwwUrl}/${handle}/${id}` }
  }

  const { prepare, discard, warmUp, remove } = drafts
  return { prepare, discard, warmUp, publish, reconcile, remove }
}

const toText = ({ content = [] }: Post): string => content.flatMap(({ text }) => text ?? []).join(' ')

const countFiles = ({ content = [] }: Post): number =>
  content.filter(({ type }) => type === 'image' || type === 'video').length
