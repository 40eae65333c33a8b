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
import { readCreatedId } from '../shared/graph/responses.ts'
import type { GraphApi } from '../shared/graph/api.ts'
import { isRefusedAs } from '../shared/graph/errors.ts'
import { assertPostable } from '../shared/postable.ts'
import { readPublished } from './responses.ts'
import { LINK_REFUSED, PHOTO_GONE, REPEATED } from './errors.ts'
import { toAttachedMedia, forgetPhotos, isVideo, getVideoUrl, type createFiles } from './files.ts'
import { findPreviewLink } from './links.ts'
import type { createSearch } from './search.ts'

interface PostDeps {
  api: GraphApi
  files: ReturnType<typeof createFiles>
  search: ReturnType<typeof createSearch>
  /** Base URL of the pages for people. */
  webUrl: string
  publishTimeoutMs(post: OutgoingPost): number
}

/** Set when Facebook refused the preview of the link. */
const WITHOUT_LINK = 'withoutLink'
/** Set when Facebook took the post for a repeat. */
const TAKEN_FOR_REPEAT = 'takenForRepeat'
/** Short: the post is already published. */
const READ_BACK_TIMEOUT_MS = SECOND

/** Prepares and publishes posts, and reconciles unknown outcomes. */
export function createPosts({ api, files, search, webUrl, publishTimeoutMs }: PostDeps) {
  async function prepare(post: OutgoingPost, account: Credentials, checkpoints: Checkpoints, options: CallOptions) {
    assertPostable('facebook', post.content, POSTING_RULES.facebook)
    await files.prepare(post, account, checkpoints, options)
    api.warm()
  }

  async function publish(
    post: OutgoingPost,
    account: Credentials,
    delivery: DeliveryCheckpoints,
    { signal }: CallOptions,
  ): Promise<Published> {
    const call = { token: account.accessToken, signal, timeoutMs: publishTimeoutMs(post) }
    try {
      return isVideo(post)
        ? await publishVideo(post, account, delivery, call)
        : await publishToFeed(post, account, delivery, call)
    } catch (error) {
      if (isRefusedAs(error, PHOTO_GONE)) {
        await forgetPhotos(post, delivery)
        // An earlier call may have used them in its post.
        throw delivery.isRepeat
          ? new PlatformError(error.class, error.message, { certain: false, cause: error })
          : error
      }
      if (isRefusedAs(error, LINK_REFUSED)) await delivery.save(WITHOUT_LINK, 'true')
      if (isRefusedAs(error, REPEATED)) throw await confirmRepeat(error, delivery)
      // The failed call may have published the post, so the next repeat must be reconciled again.
      if (delivery.get(TAKEN_FOR_REPEAT)) await delivery.save(TAKEN_FOR_REPEAT, '')
      throw error
    }
  }

  type Call = CallOptions & { token: string; timeoutMs: number }

  async function publishToFeed(
    post: OutgoingPost,
    { accountId }: Credentials,
    delivery: DeliveryCheckpoints,
    call: Call,
  ) {
    const { text } = post.content
    const photos = toAttachedMedia(post, delivery)
    const fields = {
      message: text === '' ? undefined : text,
      link: photos.length > 0 || delivery.get(WITHOUT_LINK) ? undefined : findPreviewLink(text),
      attached_media: photos.length > 0 ? JSON.stringify(photos) : undefined,
      fields: 'id,permalink_url',
    }
    const { id, permalink_url } = await api.post(`/${encodeURIComponent(accountId)}/feed`, fields, readPublished, call)
    return toPublished(post, id, permalink_url)
  }

  /** Uploads and publishes in one call: Facebook fetches the file, processes it and then shows it. */
  async function publishVideo(
    post: OutgoingPost,
    { accountId }: Credentials,
    delivery: DeliveryCheckpoints,
    call: Call,
  ) {
    const { text } = post.content
    const fields = { file_url: getVideoUrl(delivery), description: text === '' ? undefined : text }
    const { id } = await api.post(`/${encodeURIComponent(accountId)}/videos`, fields, readCreatedId, call)
    return toPublished(post, id, await fetchPermalink(id, call))
  }

  /** Right after the call the video may not be readable yet; then its default URL is used. */
  async function fetchPermalink(videoId: string, { token, signal }: Call): Promise<string | undefined> {
    const path = `/${encodeURIComponent(videoId)}`
    const options = { token, signal, timeoutMs: READ_BACK_TIMEOUT_MS }
    const read = api.get(path, { fields: 'id,permalink_url' }, readPublished, options)
    return (await read.catch(() => null))?.permalink_url
  }

  /**
   * Handles a refusal as a repeat: an earlier call published the post, or its text equals the previous post's. The
   * first refusal is reconciled. A second one, after nothing was found, is the equal text.
   */
  async function confirmRepeat(error: PlatformError, delivery: DeliveryCheckpoints): Promise<PlatformError> {
    if (delivery.get(TAKEN_FOR_REPEAT)) {
      return new PlatformError('validation', error.message, { certain: true, cause: error })
    }
    await delivery.save(TAKEN_FOR_REPEAT, 'true')
    return error
  }

  async function reconcile(
    post: OutgoingPost,
    account: Credentials,
    delivery: DeliveryCheckpoints,
    options: SearchOptions,
  ): Promise<Published | NotFoundResult> {
    const found = await search(post, account, delivery, options)
    return typeof found === 'string' ? found : toPublished(post, found.id, found.permalink)
  }

  /** Resolves the permalink, because the URLs of videos come without the host. */
  function toPublished(post: OutgoingPost, id: string, permalink: string | undefined): Published {
    const fallback = new URL(isVideo(post) ? `/reel/${id}` : `/${id}`, webUrl)
    const stated = permalink !== undefined && URL.canParse(permalink, webUrl) ? new URL(permalink, webUrl) : fallback
    return { platformPostId: id, platformPostUrl: (/^https?:$/.test(stated.protocol) ? stated : fallback).href }
  }

  return { prepare, publish, reconcile, publishTimeoutMs, warmUp: files.warmUp }
}
