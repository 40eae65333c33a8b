import { listSince } from '../list-since.ts'
import { isWebUrl } from '../../../domain/shared/links.ts'
import type { Platform } from '../../../domain/shared/platforms.ts'
import type { Content, Published } from '../../../domain/posts/post.ts'
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
import { readCreatedId, readOwnPosts, readPermalink, readQuota, type OwnPost } from './responses.ts'
import type { GraphApi } from './api.ts'
import { CONTAINER_GONE, createContainers, type ContainerDialect } from './containers.ts'
import { isMissing, isRefusedAs } from './errors.ts'

export interface PublishDialect {
  /** The last path segments below the account. */
  publishPath: string
  listPath: string
  quotaPath: string
  /** The field of own posts that holds their text. */
  textField: 'text' | 'caption'
  /** Returns the URL of the profile, used when a post's own URL is unknown. */
  toProfileUrl(handle: string): string
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
  media: MediaSource
  image: Omit<PulledImageLimits, 'maxBytes'>
}

const READ_BACK_MS = 2 * SECOND
/** Quotas cover a sliding day, so what is used is read again after this time. */
const QUOTA_WAIT_MS = HOUR
/** The maximum difference between the platform's clock and ours. */
const CLOCK_TOLERANCE_MS = MINUTE
const PAGE = 50
const MAX_PAGES = 6

/** Publishes containers and reconciles unknown outcomes (docs/design/exactly-once.md). */
export function createContainerPosts(deps: ContainerPostDeps) {
  const { platform, api, containerApi, dialect, publishTimeoutMs } = deps
  const { inFlightMs, processingWaitMs = 2 * MINUTE } = deps
  const rules = POSTING_RULES[platform]
  const media = createPulledMedia({
    media: deps.media,
    image: { ...deps.image, maxBytes: rules.media.image.maxBytes },
  })
  const containers = createContainers({ api, containerApi, dialect, media, processingWaitMs })
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
    let id: string
    try {
      const fields = { creation_id: container.id }
      const call = { token, signal, timeoutMs: publishTimeoutMs }
      id = (await api.post(toAccountPath(account, dialect.publishPath), fields, readCreatedId, call)).id
    } catch (error) {
      if (isRefusedAs(error, CONTAINER_GONE) || isMissing(error)) {
        throw await replaceContainer(error, container, { post, account, delivery, signal })
      }
      throw (await toQuotaError(error, account, { signal })) ?? error
    }
    return toPublished(id, await fetchPermalink(id, account, { signal }), account)
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

  /** Returns the permalink, or undefined. A failure here must not count as a failure of the post. */
  async function fetchPermalink(id: string, { accessToken }: Credentials, { signal }: CallOptions) {
    const call = { token: accessToken, signal, timeoutMs: READ_BACK_MS }
    try {
      const { permalink } = await api.get(`/${encodeURIComponent(id)}`, { fields: 'permalink' }, readPermalink, call)
      return permalink
    } catch {
      return undefined
    }
  }

  function toPublished(id: string, permalink: string | undefined, { handle }: Credentials): Published {
    return { platformPostId: id, platformPostUrl: isWebUrl(permalink) ? permalink : dialect.toProfileUrl(handle) }
  }

  /** Returns the error for an exhausted quota, or `null`. Error codes alone do not identify it. */
  async function toQuotaError(error: unknown, account: Credentials, options: CallOptions) {
    const mayBeQuota =
      error instanceof PlatformError && error.certain && ['rate_limited', 'validation'].includes(error.class)
    if (!mayBeQuota) return null
    const reports = await readPublicationQuota(account, options).catch(() => [])
    const [reached] = reports.filter(({ remaining }) => remaining === 0)
    if (!reached) return null
    const message = describePublicationLimit(platform, { limit: reached.limit, windowMs: DAY })
    return new PublicationQuotaReached(message, { waitMs: reached.resetsInMs, reports, cause: error })
  }

  /** The platform does not state when a publication stops to count. */
  async function readPublicationQuota(account: Credentials, { signal }: CallOptions): Promise<PublicationReport[]> {
    const call = { token: account.accessToken, signal, timeoutMs: READ_BACK_MS }
    const fields = 'quota_usage,config'
    const { data } = await api.get(toAccountPath(account, dialect.quotaPath), { fields }, readQuota, call)
    const [{ quota_usage: used, config } = {}] = data
    const limit = config?.quota_total
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
    if (options.isRestored) {
      const own = await listPostsSince(delivery.startedAt.getTime() - CLOCK_TOLERANCE_MS, account, options)
      const { content } = post
      const comparison = { content, toId, toText, isSame: (one: OwnPost) => hasSameContent(one, content) }
      const found = await searchRestored(own.isComplete ? own.found : null, comparison, options)
      if (typeof found !== 'string') return toPublished(found.id, found.permalink, account)
      if (found === 'undecidable' || !container) return found
    }
    // The container was dropped after a certain refusal, or never created.
    if (!container) return 'absent'
    const { state } = await containers.fetchStatus(container.id, account, options)
    if (state === 'gone') return options.isRestored ? 'absent' : 'undecidable'
    if (state === 'unstated') return 'in-flight'
    // guard: unpublished container
    if (state !== 'published') return isNoLongerInFlight(options, true, { inFlightMs }) ? 'absent' : 'in-flight'
    const found = await findPublished(post, account, container.createdAt - CLOCK_TOLERANCE_MS, options)
    return found ? toPublished(found.id, found.permalink, account) : 'undecidable'
  }

  /** Finds the published post. The container does not name it, so the match nearest in time to the call is taken. */
  async function findPublished(
    { content }: OutgoingPost,
    account: Credentials,
    since: number,
    { signal, calledAt, isTaken }: SearchOptions,
  ): Promise<OwnPost | null> {
    const toDistance = ({ timestamp }: OwnPost) => Math.abs(Date.parse(timestamp) - calledAt.getTime())
    const { found } = await listPostsSince(since, account, { signal })
    const matches = found
      .filter((own) => hasSameContent(own, content))
      .toSorted((one, other) => toDistance(one) - toDistance(other))
    for (const own of matches) if (!(await isTaken(own.id))) return own
    return null
  }

  const toId = ({ id }: OwnPost) => id
  const toText = (own: OwnPost) => own[dialect.textField] ?? ''

  function hasSameContent(own: OwnPost, content: Content): boolean {
    const kind = KINDS[own.media_type ?? '']
    return (
      normalizeWhitespace(toText(own)) === normalizeWhitespace(content.text) &&
      (kind ?? toKind(content)) === toKind(content)
    )
  }

  /** Returns the newest first, and whether these are all. */
  function listPostsSince(since: number, account: Credentials, { signal }: CallOptions) {
    const path = toAccountPath(account, dialect.listPath)
    return listSince({
      since,
      maxPages: MAX_PAGES,
      toTime: ({ timestamp }: OwnPost) => Date.parse(timestamp),
      async load(after) {
        const params = {
          fields: `id,${dialect.textField},timestamp,permalink,media_type`,
          limit: String(PAGE),
          since: String(Math.floor(since / SECOND)),
          after,
        }
        const { data, paging } = await api.get(path, params, readOwnPosts, { token: account.accessToken, signal })
        return { found: data, next: data.length === 0 ? undefined : paging?.cursors?.after }
      },
    })
  }

  return { prepare, publish, reconcile, readPublicationQuota, warmUp: media.warmUp }
}

/** Kinds of own posts by the platform's name. Other names say nothing about the kind. */
const KINDS: Readonly<Record<string, string>> = {
  TEXT_POST: 'text',
  IMAGE: 'image',
  VIDEO: 'video',
  CAROUSEL_ALBUM: 'carousel',
  REPOST_FACADE: 'repost',
}

function toKind({ mediaItems }: Content): string {
  const [first, ...others] = mediaItems
  if (!first) return 'text'
  return others.length > 0 ? 'carousel' : toMediaKind(first.mimeType)
}
