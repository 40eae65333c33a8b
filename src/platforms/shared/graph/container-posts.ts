import { CLOCK_TOLERANCE_MS, listSince } from '../list-since.ts'
import type { Platform } from '../../../domain/shared/platforms.ts'
import type { Published } from '../../../domain/posts/post.ts'
import { toPostKind } from '../../../domain/posts/options.ts'
import { toMediaKind, POSTING_RULES } from '../../../domain/posts/posting-rules.ts'
import { describePublicationLimit, type PublicationReport } from '../../../domain/quotas/publications.ts'
import { DAY, HOUR, MINUTE, SECOND } from '../../../domain/shared/times.ts'
import type {
  CallOptions,
  Credentials,
  DeliveryCheckpoints,
  MediaSource,
  OutgoingPost,
  Checkpoints,
  SearchOptions,
  NotFoundResult,
} from '../../contract.ts'
import { PlatformError, PublicationQuotaReached } from '../../errors.ts'
import { assertPostable } from '../postable.ts'
import { normalizeWhitespace } from '../text-difference.ts'
import { searchRestored } from '../restored-search.ts'
import { createPulledMedia, type PulledImageLimits } from '../pulled-media.ts'
import { isNoLongerInFlight, type InFlightTimes } from '../in-flight.ts'
import { readOwnPosts, readPublishedContainer, readQuota, type OwnPost, type PublishedContainer } from './responses.ts'
import type { GraphApi } from './api.ts'
import { CONTAINER_GONE, createContainers, type ContainerDialect } from './containers.ts'
import { isErrorClass, isMissing, isRefusedAs } from './errors.ts'
import { READ_BACK_MS, type PostUrls } from './post-urls.ts'

/** A list of own posts, and the names of the fields with their quota. */
interface OwnPostsDialect {
  /** The last path segment below the account. */
  listPath: string
  usageField: 'quota_usage' | 'reply_quota_usage'
  configField: 'config' | 'reply_config'
}

export interface PublishDialect {
  /** The last path segments below the account. */
  publishPath: string
  quotaPath: string
  posts: OwnPostsDialect
  /** The account's replies, where the platform lists and counts them apart from its posts. */
  replies?: OwnPostsDialect
  /** The last path segment of the account's stories, which the list of its posts lacks; absent where posts cannot be stories. */
  storiesPath?: string
  /** Returns what a published post lacks, for people. Null: the response was lost. Absent: posts are published whole or not. */
  findWarning?(post: OutgoingPost, response: PublishedContainer | null): string | undefined
  /** The field of own posts that holds their text. */
  textField: 'text' | 'caption'
}

export interface ContainerTimes extends Pick<InFlightTimes, 'inFlightMs'> {
  /** Deadline of the visible call, milliseconds. */
  publishTimeoutMs: number
  /** How long one preparation waits for the platform to process an image or video, milliseconds. */
  processingWaitMs?: number
}

interface ContainerPostDeps extends ContainerTimes {
  platform: Platform
  api: GraphApi
  /** A separate client, so that slow calls never take a connection from a visible call. */
  containerApi: GraphApi
  dialect: ContainerDialect & PublishDialect
  urls: PostUrls
  media: MediaSource
  image: Omit<PulledImageLimits, 'maxBytes'>
}

/** Quotas cover a sliding day, so what is used is read again after this time. */
const QUOTA_WAIT_MS = HOUR
const PAGE = 50
const MAX_PAGES = 6

/** Publishes containers and reconciles unknown outcomes (docs/design/exactly-once.md). */
export function createContainerPosts(deps: ContainerPostDeps) {
  const { platform, api, containerApi, dialect, urls, publishTimeoutMs } = deps
  const { inFlightMs, processingWaitMs = 2 * MINUTE } = deps
  const rules = POSTING_RULES[platform]
  const image = { ...deps.image, maxBytes: rules.media.image.maxBytes }
  const { shape: _, ...storyImage } = image
  const media = createPulledMedia({ media: deps.media, image })
  const isStory = ({ options }: Pick<OutgoingPost, 'options'>) => toPostKind(platform, options) === 'story'
  const containers = createContainers({
    ...{ api, containerApi, dialect, processingWaitMs },
    // The documentation limits no shapes of stories.
    resolveUrl: (item, post, options) => media.resolveUrl(item, options, isStory(post) ? storyImage : image),
  })
  const toAccountPath = ({ accountId }: Credentials, last: string) => `/${encodeURIComponent(accountId)}/${last}`

  async function prepare(post: OutgoingPost, account: Credentials, checkpoints: Checkpoints, options: CallOptions) {
    assertPostable(platform, post, rules)
    await containers.prepare(post, account, checkpoints, options)
  }

  async function publish(
    post: OutgoingPost,
    account: Credentials,
    delivery: DeliveryCheckpoints,
    { signal }: CallOptions,
  ): Promise<Published> {
    const container = containers.takeContainer(delivery)
    // guard: published container
    if (container.isPublished) {
      throw new PlatformError('duplicate', `The post is on ${api.label} already`, { certain: false })
    }
    const token = account.accessToken
    let response: PublishedContainer
    try {
      const fields = { creation_id: container.id }
      const call = { token, signal, timeoutMs: publishTimeoutMs }
      response = await api.post(toAccountPath(account, dialect.publishPath), fields, readPublishedContainer, call)
    } catch (error) {
      if (isRefusedAs(error, CONTAINER_GONE) || isMissing(error)) {
        throw await replaceContainer(error, container, { post, account, delivery, signal })
      }
      throw (await toQuotaError(error, post, account, { signal })) ?? error
    }
    const { id } = response
    const platformPostUrl = await urls.fetchUrl(id, account, { signal })
    return { platformPostId: id, platformPostUrl, ...toWarning(post, response) }
  }

  /**
   * Makes the next preparation create the container again, unless this or an earlier call may have published it. An unlinked account appears
   * as a lost container; its preparation fails then.
   */
  async function replaceContainer(
    cause: PlatformError,
    { id }: { id: string },
    {
      post,
      account,
      delivery,
      signal,
    }: { post: OutgoingPost; account: Credentials; delivery: DeliveryCheckpoints } & CallOptions,
  ): Promise<PlatformError> {
    const deadline = { signal: AbortSignal.any([signal, AbortSignal.timeout(READ_BACK_MS)]) }
    const status = await containers.fetchStatus(id, account, deadline).catch(() => null)
    const mayBePublished = status === null || status.state === 'published' || status.state === 'unstated'
    const certain = cause.certain && !delivery.isRepeat && !mayBePublished
    if (certain) await containers.forget(post, delivery)
    return new PlatformError('media_not_ready', `${api.label} no longer has the prepared post`, {
      certain,
      answered: true,
      retryAfterMs: cause.retryAfterMs ?? SECOND,
      cause,
    })
  }

  const toFound = ({ id, permalink }: OwnPost, post: OutgoingPost, account: Credentials): Published => ({
    platformPostId: id,
    platformPostUrl: urls.toUrl(permalink, account),
    ...toWarning(post, null),
  })

  function toWarning(post: OutgoingPost, response: PublishedContainer | null): Pick<Published, 'warning'> {
    const warning = dialect.findWarning?.(post, response)
    return warning === undefined ? {} : { warning }
  }

  /** Returns the replies of the platform for a reply, else null. */
  const findReplies = ({ replyTo }: OutgoingPost) => (replyTo && dialect.replies) ?? null

  /** Returns the error for an exhausted quota, or `null`. Error codes alone do not identify it. */
  async function toQuotaError(error: unknown, post: OutgoingPost, account: Credentials, options: CallOptions) {
    const mayBeQuota =
      error instanceof PlatformError && error.certain && ['rate_limited', 'validation'].includes(error.class)
    if (!mayBeQuota) return null
    const replies = findReplies(post)
    const reports = await readQuotaOf(replies ?? dialect.posts, account, options).catch(() => [])
    const [reached] = reports.filter(({ remaining }) => remaining === 0)
    if (!reached) return null
    const limit = { limit: reached.limit, windowMs: DAY }
    const message = describePublicationLimit(platform, limit, replies ? 'reply' : 'post')
    // Turns are counted by the quota of posts, to which a report on replies says nothing.
    const ofTurns = replies ? [] : reports
    return new PublicationQuotaReached(message, { waitMs: reached.resetsInMs, reports: ofTurns, cause: error })
  }

  /** The platform does not state when a publication stops to count. */
  async function readQuotaOf(
    { usageField, configField }: OwnPostsDialect,
    account: Credentials,
    { signal }: CallOptions,
  ): Promise<PublicationReport[]> {
    const call = { token: account.accessToken, signal, timeoutMs: READ_BACK_MS }
    const fields = `${usageField},${configField}`
    const { data } = await api.get(toAccountPath(account, dialect.quotaPath), { fields }, readQuota, call)
    const used = data[0]?.[usageField]
    const limit = data[0]?.[configField]?.quota_total
    if (used === undefined || limit === undefined) return []
    return [{ span: 'day', limit, remaining: Math.max(0, limit - used), resetsInMs: QUOTA_WAIT_MS }]
  }

  async function reconcile(
    post: OutgoingPost,
    account: Credentials,
    delivery: DeliveryCheckpoints,
    options: SearchOptions,
  ): Promise<Published | NotFoundResult> {
    const container = containers.findContainer(delivery)
    // Stories have no text to be searched by, and are listed for a day only.
    const isSearchable = !isStory(post)
    if (options.isRestored && isSearchable) {
      const own = await listPostsSince(delivery.startedAt.getTime() - CLOCK_TOLERANCE_MS, post, account, options)
      if (!own) return 'undecidable'
      const comparison = { content: post.content, toId, toText, isSame: (one: OwnPost) => isSamePost(one, post) }
      const found = await searchRestored(own.isComplete ? own.found : null, comparison, options)
      if (typeof found !== 'string') return toFound(found, post, account)
      if (found === 'undecidable' || !container) return found
    }
    // The container was dropped after a certain refusal, or never created.
    if (!container) return options.isRestored && !isSearchable ? 'undecidable' : 'absent'
    const { state } = await containers.fetchStatus(container.id, account, options)
    if (state === 'gone') return options.isRestored && isSearchable ? 'absent' : 'undecidable'
    if (state === 'unstated') return 'in-flight'
    if (state !== 'published' && options.isRestored && !isSearchable) return 'undecidable'
    // guard: unpublished container
    if (state !== 'published') return isNoLongerInFlight(options, true, { inFlightMs }) ? 'absent' : 'in-flight'
    const found = await findPublished(post, account, container.createdAt - CLOCK_TOLERANCE_MS, options)
    return found ? toFound(found, post, account) : 'undecidable'
  }

  /** Finds the published post. The container does not name it, so the match nearest in time to the call is taken. */
  async function findPublished(
    post: OutgoingPost,
    account: Credentials,
    since: number,
    { signal, calledAt, isTaken }: SearchOptions,
  ): Promise<OwnPost | null> {
    const toDistance = ({ timestamp }: OwnPost) => Math.abs(Date.parse(timestamp) - calledAt.getTime())
    const { found = [] } = (await listPostsSince(since, post, account, { signal })) ?? {}
    const matches = found
      .filter((own) => isSamePost(own, post))
      .toSorted((one, other) => toDistance(one) - toDistance(other))
    for (const own of matches) if (!(await isTaken(own.id))) return own
    return null
  }

  const toId = ({ id }: OwnPost) => id
  const toText = (own: OwnPost) => own[dialect.textField] ?? ''

  function isSamePost(own: OwnPost, { content, replyTo }: OutgoingPost): boolean {
    const kind = KINDS[own.media_type ?? '']
    // Distinguishes the parts of a thread, where the platform states what a reply is to.
    const hasParent = own.replied_to === undefined || own.replied_to.id === replyTo?.parentId
    return (
      hasParent &&
      normalizeWhitespace(toText(own)) === normalizeWhitespace(content.text) &&
      (kind ?? toKind(content)) === toKind(content)
    )
  }

  /** Returns the newest first, and whether these are all. Null: the login may not list replies or stories, which posting them does not require. */
  async function listPostsSince(since: number, post: OutgoingPost, account: Credentials, { signal }: CallOptions) {
    const replies = findReplies(post)
    const stories = isStory(post) ? dialect.storiesPath : undefined
    const path = toAccountPath(account, stories ?? (replies ?? dialect.posts).listPath)
    const listing = listSince({
      since,
      maxPages: MAX_PAGES,
      toTime: ({ timestamp }: OwnPost) => Date.parse(timestamp),
      async load(after) {
        const params = {
          fields: `id,${dialect.textField},timestamp,permalink,media_type${replies ? ',replied_to' : ''}`,
          limit: String(PAGE),
          since: stories === undefined ? String(Math.floor(since / SECOND)) : undefined,
          after,
        }
        const { data, paging } = await api.get(path, params, readOwnPosts, { token: account.accessToken, signal })
        return { found: data, next: data.length === 0 ? undefined : paging?.cursors?.after }
      },
    })
    return listing.catch((error: unknown) => {
      if ((replies || stories !== undefined) && isErrorClass(error, 'permission')) return null
      throw error
    })
  }

  return {
    prepare,
    publish,
    reconcile,
    readPublicationQuota: (account: Credentials, options: CallOptions) => readQuotaOf(dialect.posts, account, options),
    warmUp: media.warmUp,
  }
}

/** Kinds of own posts by the platform's name. Other names say nothing about the kind. */
const KINDS: Readonly<Record<string, string>> = {
  TEXT_POST: 'text',
  IMAGE: 'image',
  VIDEO: 'video',
  CAROUSEL_ALBUM: 'carousel',
  REPOST_FACADE: 'repost',
}

function toKind({ mediaItems }: OutgoingPost['content']): string {
  const [first, ...others] = mediaItems
  if (!first) return 'text'
  return others.length > 0 ? 'carousel' : toMediaKind(first.mimeType)
}
