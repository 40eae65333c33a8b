import { SECOND } from '../../domain/shared/times.ts'
import type { CallOptions, Checkpoints, Credentials, DeliveryCheckpoints, OutgoingPost } from '../contract.ts'
import { PlatformError } from '../errors.ts'
import type { GraphApi } from '../shared/graph/api.ts'
import { isMissing, isRefusedAs } from '../shared/graph/errors.ts'
import { readId } from '../shared/graph/responses.ts'
import { toUnprovenError } from '../shared/refusals.ts'
import { leaveOutLink } from './checkpoints.ts'
import { LINK_REFUSED, PHOTO_GONE, PHOTO_USED, REPEATED } from './errors.ts'
import { toFeedFields, toVideoFields } from './fields.ts'
import { forgetPhotos, isVideo } from './files.ts'
import { readPublished } from './responses.ts'
import { fetchVideo, toVideoError, type ProcessedVideo } from './videos.ts'

interface FoundPost {
  id: string
  permalink: string | undefined
}

type Call = CallOptions & { timeoutMs: number }

/** Set when Facebook took the post for a repeat. */
const TAKEN_FOR_REPEAT = 'takenForRepeat'
/** The id of a published video that Facebook may still process. */
const VIDEO_ID = 'videoId'
/** Facebook's explanation of a video that it could not process. */
const BROKEN = 'broken'
/** Short: Facebook has the video already. */
const READ_BACK_TIMEOUT_MS = SECOND

/** Publishes on pages that refuse drafts: one call carries the content, and nothing protects against its repeat. */
export function createDirectPosts({ api }: { api: GraphApi }) {
  async function publish(
    post: OutgoingPost,
    account: Credentials,
    delivery: DeliveryCheckpoints,
    call: Call,
  ): Promise<FoundPost> {
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
      if (isRefusedAs(error, LINK_REFUSED)) await leaveOutLink(delivery)
      if (isRefusedAs(error, REPEATED) || isRefusedAs(error, PHOTO_USED)) throw await confirmRepeat(error, delivery)
      // The failed call may have published the post, so the next repeat must be reconciled again.
      if (delivery.get(TAKEN_FOR_REPEAT)) await delivery.save(TAKEN_FOR_REPEAT, '')
      throw isMissing(error) ? toUnprovenError(error) : error
    }
  }

  async function publishToFeed(
    post: OutgoingPost,
    { accountId, accessToken: token }: Credentials,
    delivery: DeliveryCheckpoints,
    call: Call,
  ): Promise<FoundPost> {
    const path = `/${encodeURIComponent(accountId)}/feed`
    const { id, permalink_url: permalink } = await api.post(path, toFeedFields(post, delivery), readPublished, {
      ...call,
      token,
    })
    return { id, permalink }
  }

  /** Facebook accepts a video before it processes it, and publishes it only afterwards. */
  async function publishVideo(
    post: OutgoingPost,
    account: Credentials,
    delivery: DeliveryCheckpoints,
    { signal, timeoutMs }: Call,
  ): Promise<FoundPost> {
    const path = `/${encodeURIComponent(account.accountId)}/videos`
    const call = { token: account.accessToken, signal, timeoutMs }
    const { id } = await api.post(path, toVideoFields(post, delivery), readId, call)
    // Without its id, the video is found by its text.
    await delivery.save(VIDEO_ID, id).catch(() => undefined)
    const options = { signal, timeoutMs: READ_BACK_TIMEOUT_MS }
    const video = await fetchVideo(api, id, account, options).catch(() => null)
    if (video?.state === 'ready') return { id, permalink: video.permalink }
    if (video?.state === 'failed') {
      await delivery.save(VIDEO_ID, '')
      throw toVideoError(video.reason)
    }
    throw new PlatformError('media_not_ready', 'Facebook is still processing the video', {
      certain: false,
      answered: true,
    })
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

  return {
    publish,

    /** Returns null when no video id is known, or Facebook does not show it. Then the page is searched. */
    async reconcileVideo(
      account: Credentials,
      delivery: DeliveryCheckpoints,
      options: CallOptions,
    ): Promise<FoundPost | 'absent' | 'in-flight' | null> {
      const id = delivery.get(VIDEO_ID)
      const video = id ? await fetchVideo(api, id, account, options) : null
      if (!id || !video) return null
      if (video.state === 'ready') return { id, permalink: video.permalink }
      if (video.state === 'processing') return 'in-flight'
      // The next preparation reports it.
      await delivery.save(BROKEN, JSON.stringify(video.reason))
      return 'absent'
    },

    /** @throws PlatformError once for a video that Facebook could not process */
    async assertUnbroken(checkpoints: Checkpoints): Promise<void> {
      const broken = checkpoints.get(BROKEN)
      if (!broken) return
      for (const name of [BROKEN, VIDEO_ID]) await checkpoints.save(name, '')
      throw toVideoError(JSON.parse(broken) as ProcessedVideo['reason'])
    },
  }
}

export type DirectPosts = ReturnType<typeof createDirectPosts>
