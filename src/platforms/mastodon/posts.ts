import { isWebUrl } from '../../domain/shared/links.ts'
import type { Published } from '../../domain/posts/post.ts'
import { CALL_LIMITS } from '../../domain/quotas/limits.ts'
import type {
  CallOptions,
  Credentials,
  DeliveryCheckpoints,
  OutgoingPost,
  Checkpoints,
  SearchOptions,
  NotFoundResult,
} from '../contract.ts'
import { PlatformError, PublicationQuotaReached } from '../errors.ts'
import { toJsonBody } from '../shared/calls.ts'
import { assertPostable } from '../shared/postable.ts'
import { readCountedStatus, readStatus, type Status } from './responses.ts'
import type { Api } from './api.ts'
import type { ApplicationName } from './application-name.ts'
import { isRefusedAs, isRefusedWith, toParentGoneError, toUnprovenError } from '../shared/refusals.ts'
import type { createInstanceLimits } from './instance-limits.ts'
import { describeMissingFiles, listUploadedIds, type createMedia } from './media.ts'
import type { createSearch } from './search.ts'

interface PostDeps {
  api: Api
  media: ReturnType<typeof createMedia>
  search: ReturnType<typeof createSearch>
  application: ApplicationName
  limits: ReturnType<typeof createInstanceLimits>
  publishTimeoutMs: number
}

const MAX_URL_LENGTH = 2_048

/** Set when the server reported a status of ours that no longer exists. */
const DELETED = 'deleted'

/** Prepares and publishes posts, and reconciles unknown outcomes. */
export function createPosts(deps: PostDeps) {
  const { api, media, search, application, limits, publishTimeoutMs } = deps

  async function prepare(post: OutgoingPost, account: Credentials, checkpoints: Checkpoints, options: CallOptions) {
    const instance = await limits(options)
    assertPostable('mastodon', post, instance.rules)
    if (post.replyTo) await assertParent(post.replyTo.parentId, account, options)
    await media.prepare(post, account, checkpoints, { ...options, limits: instance })
    api.warm()
  }

  /** The 404 of a reply to a missing status would leave open whether it was published. @throws PlatformError when it is missing */
  async function assertParent(id: string, { accessToken: token }: Credentials, { signal }: CallOptions): Promise<void> {
    try {
      await api.get(`/api/v1/statuses/${encodeURIComponent(id)}`, {}, readStatus, { token, signal })
    } catch (error) {
      throw isRefusedAs(error, 'missing') ? toParentGoneError('Mastodon', error) : error
    }
  }

  async function publish(
    post: OutgoingPost,
    account: Credentials,
    delivery: DeliveryCheckpoints,
    { signal }: CallOptions,
  ): Promise<Published> {
    const status = {
      ...{ status: post.content.text, media_ids: listUploadedIds(post, delivery) },
      ...(post.replyTo && { in_reply_to_id: post.replyTo.parentId }),
      ...toOptionFields(post),
    }
    const call = { token: account.accessToken, signal, timeoutMs: publishTimeoutMs, publisher: account.accountId }
    try {
      const { body } = await api.post(
        '/api/v1/statuses',
        toJsonBody(status, { 'idempotency-key': delivery.key }),
        readStatus,
        call,
      )
      application.learn(body.application)
      search.learnIds(body, status.media_ids)
      return toPublished(body, post, account)
    } catch (error) {
      if (isRefusedAs(error, 'missing')) throw await toMissingError(error, delivery, { signal })
      if (isRefusedWith(error, 422) && post.content.mediaItems.length > 0) {
        const reason = await media.explainRefusal(error, post, account, delivery, { signal })
        const { honoursKeys } = await limits({ signal })
        // A status of this post may use the files. Only a server that honours keys recognises the repeat of a first call.
        const isUncertain = reason !== error && (delivery.isRepeat || !honoursKeys)
        throw isUncertain
          ? new PlatformError(reason.class, reason.message, { certain: false, answered: true, cause: reason })
          : reason
      }
      throw isOfStatuses(error)
        ? new PublicationQuotaReached(error.message, { waitMs: error.retryAfterMs!, cause: error })
        : error
    }
  }

  /** The limit of all calls ends sooner, so a longer wait is that of new statuses. */
  function isOfStatuses(error: unknown): error is PlatformError {
    const [{ windowMs }] = CALL_LIMITS.mastodonAccount
    return error instanceof PlatformError && error.class === 'rate_limited' && (error.retryAfterMs ?? 0) > windowMs
  }

  /**
   * Converts a 404, which leaves open whether this call published the post. To a repeat, a server that honours keys returns it when the first
   * status was deleted meanwhile; such a post counts as published.
   */
  async function toMissingError(
    cause: PlatformError,
    delivery: DeliveryCheckpoints,
    options: CallOptions,
  ): Promise<PlatformError> {
    if (!delivery.isRepeat || !(await limits(options)).honoursKeys) return toUnprovenError(cause)
    await delivery.save(DELETED, 'true')
    const message = 'The post was published on Mastodon and deleted there'
    return new PlatformError('duplicate', message, { certain: false, answered: true, cause })
  }

  async function reconcile(
    post: OutgoingPost,
    account: Credentials,
    delivery: DeliveryCheckpoints,
    options: SearchOptions,
  ): Promise<Published | NotFoundResult> {
    const found = await search.find(post, account, delivery, options)
    if (typeof found === 'string') return delivery.get(DELETED) ? 'undecidable' : found
    application.learn(found.application)
    return toPublished(found, post, account)
  }

  async function remove(id: string, { accessToken: token }: Credentials, { signal }: CallOptions): Promise<void> {
    try {
      await api.delete(`/api/v1/statuses/${encodeURIComponent(id)}`, readCountedStatus, { token, signal })
    } catch (error) {
      if (!isRefusedAs(error, 'missing')) throw error
    }
  }

  function toPublished(
    { id, url, media_attachments: files }: Status,
    post: OutgoingPost,
    { handle }: Credentials,
  ): Published {
    const fallback = `${api.base}/@${handle.split('@')[0]}/${id}`
    const warning = describeMissingFiles(files, post)
    return {
      platformPostId: id,
      platformPostUrl: isWebUrl(url) && url.length <= MAX_URL_LENGTH ? url : fallback,
      ...(warning !== undefined && { warning }),
    }
  }

  return { prepare, publish, reconcile, remove }
}

/** https://docs.joinmastodon.org/methods/statuses/#form-data-parameters */
function toOptionFields({ options: { mastodon = {} }, replyTo }: OutgoingPost) {
  const { visibility, spoilerText, sensitive, language, poll } = mastodon
  return {
    ...(visibility !== undefined && { visibility }),
    ...(spoilerText && { spoiler_text: spoilerText }),
    ...(sensitive !== undefined && { sensitive }),
    ...(language !== undefined && { language }),
    ...(poll &&
      !replyTo && {
        poll: {
          ...{ options: poll.options, expires_in: poll.expiresIn },
          ...{ multiple: poll.multiple ?? false, hide_totals: poll.hideTotals ?? false },
        },
      }),
  }
}
