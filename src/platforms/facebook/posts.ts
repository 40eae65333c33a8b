import type { Published } from '../../domain/posts/post.ts'
import { POSTING_RULES } from '../../domain/posts/posting-rules.ts'
import { SECOND } from '../../domain/shared/times.ts'
import type {
  CallOptions,
  Credentials,
  DeliveryCheckpoints,
  OutgoingPost,
  Checkpoints,
  SearchOptions,
  NotFoundResult,
} from '../contract.ts'
import { PlatformError } from '../errors.ts'
import { isMissing } from '../shared/graph/errors.ts'
import { assertPostable } from '../shared/postable.ts'
import { findDraft, isDirect, type Draft } from './checkpoints.ts'
import type { DirectPosts } from './direct-posts.ts'
import { toLostDraftError, type createDrafts } from './drafts.ts'
import { isVideo, throwNotPrepared } from './files.ts'
import { toPageUrl } from './page-url.ts'
import type { createSearch } from './search.ts'

interface PostDeps {
  drafts: ReturnType<typeof createDrafts>
  direct: DirectPosts
  search: ReturnType<typeof createSearch>
  /** Base URL of the pages for people. */
  webUrl: string
  publishTimeoutMs(post: OutgoingPost): number
}

/** Short, so that a slow answer leaves time before the deadline. */
const READ_BACK_TIMEOUT_MS = 2 * SECOND

/** Publishes drafts, or directly where the page refuses them, and reconciles unknown outcomes. */
export function createPosts({ drafts, direct, search, webUrl, publishTimeoutMs }: PostDeps) {
  async function prepare(post: OutgoingPost, account: Credentials, checkpoints: Checkpoints, options: CallOptions) {
    assertPostable('facebook', post, POSTING_RULES.facebook)
    await direct.assertUnbroken(checkpoints)
    await drafts.prepare(post, account, checkpoints, options)
  }

  async function publish(
    post: OutgoingPost,
    account: Credentials,
    delivery: DeliveryCheckpoints,
    { signal }: CallOptions,
  ): Promise<Published> {
    const call = { signal, timeoutMs: publishTimeoutMs(post) }
    const draft = findDraft(delivery)
    if (draft) return publishDraft(draft, post, account, delivery, call)
    if (!isDirect(delivery)) throwNotPrepared()
    const { id, permalink } = await direct.publish(post, account, delivery, call)
    return toPublished(post, id, permalink)
  }

  async function publishDraft(
    draft: Draft,
    post: OutgoingPost,
    account: Credentials,
    delivery: DeliveryCheckpoints,
    call: CallOptions & { timeoutMs: number },
  ): Promise<Published> {
    try {
      await drafts.publish(draft, account, call)
    } catch (error) {
      if (!isRefusalOfDraft(error)) throw error
      const options = { ...call, timeoutMs: READ_BACK_TIMEOUT_MS }
      const state = await drafts.fetchState(draft, account, options).catch(() => null)
      // An earlier call or a person has published it.
      const isPublished = state !== null && state !== 'gone' && state.isPublished
      if (!isPublished) throw await toDraftError(error, state, post, delivery)
    }
    return toPublished(post, draft.id, draft.permalink)
  }

  async function toDraftError(
    cause: PlatformError,
    state: 'gone' | object | null,
    post: OutgoingPost,
    delivery: DeliveryCheckpoints,
  ): Promise<PlatformError> {
    const { message } = cause
    // This or an earlier call may have published it.
    const isUnread = state === null && (cause.class === 'duplicate' || isMissing(cause))
    const isOpen = isUnread || (delivery.isRepeat && (state === null || state === 'gone'))
    if (isOpen) return new PlatformError(cause.class, message, { certain: false, answered: true, cause })
    if (state === 'gone') {
      await drafts.forget(post, delivery)
      return toLostDraftError(cause)
    }
    // A repeat of this post would be published, so it repeats another one.
    return cause.class === 'duplicate' ? new PlatformError('validation', message, { certain: true, cause }) : cause
  }

  async function reconcile(
    post: OutgoingPost,
    account: Credentials,
    delivery: DeliveryCheckpoints,
    options: SearchOptions,
  ): Promise<Published | NotFoundResult> {
    const { isRestored, signal } = options
    const draft = findDraft(delivery)
    if (draft) {
      const state = await drafts.fetchState(draft, account, { signal })
      if (state !== 'gone' && state.isPublished) return toPublished(post, draft.id, state.permalink)
      if (!isRestored) return state === 'gone' ? 'undecidable' : 'absent'
    }
    // It was never prepared, or no longer there for the first call: then nothing was published.
    if (!isRestored && !isDirect(delivery)) return 'absent'
    const ofVideo = await direct.reconcileVideo(account, delivery, { signal })
    const found = ofVideo ?? (await search(post, account, delivery, options))
    return typeof found === 'string' ? found : toPublished(post, found.id, found.permalink)
  }

  /** Resolves the permalink, because the URLs of videos come without the host. */
  function toPublished(post: OutgoingPost, id: string, permalink: string | undefined): Published {
    const otherwise = isVideo(post) ? `/reel/${id}` : `/${id}`
    return { platformPostId: id, platformPostUrl: toPageUrl(webUrl, permalink, otherwise) }
  }

  const { discard } = drafts
  return { prepare, publish, reconcile, discard, publishTimeoutMs }
}

/** Other refusals concern the login or the number of calls. */
function isRefusalOfDraft(error: unknown): error is PlatformError {
  return (
    error instanceof PlatformError &&
    error.certain &&
    error.answered &&
    !['unauthorized', 'rate_limited'].includes(error.class)
  )
}
