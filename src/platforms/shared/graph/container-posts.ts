import type { Platform } from '../../../domain/shared/platforms.ts'
import type { Content, Published } from '../../../domain/posts/post.ts'
import { toMediaKind, POSTING_RULES } from '../../../domain/posts/posting-rules.ts'
import { HOUR, MINUTE, SECOND } from '../../../domain/shared/times.ts'
import type {
  CallOptions,
  Credentials,
  DeliveryLog,
  MediaSource,
  OutgoingPost,
  PreparationLog,
  SearchOptions,
  Untraced,
} from '../../contract.ts'
import { PlatformError } from '../../errors.ts'
import { assertPostable } from '../postable.ts'
import { createPulledMedia, type PulledImageLimits } from '../pulled-media.ts'
import { isSettled, type SettleTimes } from '../settling.ts'
import { readMade, readOwnPosts, readPermalink, readQuota, type OwnPost } from './responses.ts'
import type { GraphApi } from './api.ts'
import { CONTAINER_GONE, createContainers, type ContainerDialect } from './containers.ts'
import { isRefusedAs } from './errors.ts'

export interface PublishDialect {
  /** The last parts of paths under the account. */
  publishPath: string
  listPath: string
  quotaPath: string
  /** What own posts call their words. */
  words: 'text' | 'caption'
  /** Where the account can be seen: the address of a post whose own could not be had. */
  pageOf(handle: string): string
}

export interface ContainerTimes extends Pick<SettleTimes, 'settleMs'> {
  /** Deadline of the one visible call. */
  publishTimeoutMs: number
  /** How long one preparation waits for the platform's work on an image or video. */
  processingWaitMs?: number
}

interface ContainerPostDeps extends ContainerTimes {
  platform: Platform
  api: GraphApi
  /** Apart from `api`, so that nothing slow keeps a visible call from its connection. */
  makingApi: GraphApi
  dialect: ContainerDialect & PublishDialect
  media: MediaSource
  image: Omit<PulledImageLimits, 'maxBytes'>
}

const READ_BACK_MS = 2 * SECOND
/** Quotas run over a day that ends at no known time, so it is tried again now and then. */
const QUOTA_WAIT_MS = HOUR
/** By how much the platform's clock and ours may differ. */
const CLOCK_TOLERANCE_MS = MINUTE
const PAGE = 50
const MOST_PAGES = 6

/** The one call that makes a container visible, and the search for what became of it (design section 6). */
export function createContainerPosts(deps: ContainerPostDeps) {
  const { platform, api, makingApi, dialect, publishTimeoutMs } = deps
  const { settleMs, processingWaitMs = 2 * MINUTE } = deps
  const rules = POSTING_RULES[platform]
  const media = createPulledMedia({
    media: deps.media,
    image: { ...deps.image, maxBytes: rules.media.image.maxBytes },
  })
  const containers = createContainers({ api, makingApi, dialect, media, processingWaitMs })
  const pathOf = ({ accountId }: Credentials, last: string) => `/${encodeURIComponent(accountId)}/${last}`

  async function prepare(post: OutgoingPost, account: Credentials, log: PreparationLog, options: CallOptions) {
    assertPostable(platform, post.content, rules)
    await containers.prepare(post, account, log, options)
  }

  async function publish(
    post: OutgoingPost,
    account: Credentials,
    delivery: DeliveryLog,
    { signal }: CallOptions,
  ): Promise<Published> {
    const container = containers.take(delivery)
    // guard: published container
    if (container.isPublished) {
      throw new PlatformError('duplicate', `The post is on ${api.label} already`, { certain: false })
    }
    const token = account.accessToken
    let id: string
    try {
      const fields = { creation_id: container.id }
      const call = { token, signal, timeoutMs: publishTimeoutMs }
      id = (await api.post(pathOf(account, dialect.publishPath), fields, readMade, call)).id
    } catch (error) {
      if (isRefusedAs(error, CONTAINER_GONE)) await containers.forget(post, delivery)
      throw (await quotaError(error, account, { signal })) ?? error
    }
    return published(id, await permalinkOf(id, account, { signal }), account)
  }

  /** The post is out: no trouble with its address may make it look otherwise. */
  async function permalinkOf(id: string, { accessToken }: Credentials, { signal }: CallOptions) {
    const call = { token: accessToken, signal, timeoutMs: READ_BACK_MS }
    try {
      const { permalink } = await api.get(`/${encodeURIComponent(id)}`, { fields: 'permalink' }, readPermalink, call)
      return permalink
    } catch {
      return undefined
    }
  }

  function published(id: string, permalink: string | undefined, { handle }: Credentials): Published {
    const isAddress = /^https?:\/\//.test(permalink ?? '')
    return { platformPostId: id, platformPostUrl: isAddress ? permalink! : dialect.pageOf(handle) }
  }

  /** Whether a refusal means that the account has published as much as it may for now; codes alone do not tell. */
  async function quotaError(error: unknown, account: Credentials, { signal }: CallOptions) {
    const mayBeQuota =
      error instanceof PlatformError && error.certain && ['rate_limited', 'validation'].includes(error.class)
    if (!mayBeQuota) return null
    const call = { token: account.accessToken, signal, timeoutMs: READ_BACK_MS }
    const fields = 'quota_usage,config'
    const quota = await api.get(pathOf(account, dialect.quotaPath), { fields }, readQuota, call).catch(() => null)
    const [{ quota_usage: used, config } = {}] = quota?.data ?? []
    const total = config?.quota_total
    if (used === undefined || total === undefined || used < total) return null
    const message = `${api.label} takes at most ${total} posts of an account within 24 hours`
    return new PlatformError('rate_limited', message, { certain: true, retryAfterMs: QUOTA_WAIT_MS, cause: error })
  }

  async function reconcile(
    post: OutgoingPost,
    account: Credentials,
    delivery: DeliveryLog,
    options: SearchOptions,
  ): Promise<Published | Untraced> {
    const container = containers.find(delivery)
    // Given up after a refusal that was certain, or never made.
    if (!container) return 'absent'
    const { state } = await containers.look(container.id, account, options)
    if (state === 'gone') return 'undecidable'
    // guard: unpublished container
    if (state !== 'published') return isSettled(options, true, { settleMs }) ? 'absent' : 'unsettled'
    const found = await search(post, account, container.createdAt - CLOCK_TOLERANCE_MS, options)
    return found ? published(found.id, found.permalink, account) : 'undecidable'
  }

  /** The container does not tell what it became: of the own posts that look like it, the one nearest to the call. */
  async function search(
    { content }: OutgoingPost,
    account: Credentials,
    since: number,
    { signal, calledAt, isTaken }: SearchOptions,
  ): Promise<OwnPost | null> {
    const distance = ({ timestamp }: OwnPost) => Math.abs(Date.parse(timestamp) - calledAt.getTime())
    const alike = (await postsSince(since, account, { signal }))
      .filter((own) => looksLike(own, content))
      .toSorted((one, other) => distance(one) - distance(other))
    for (const own of alike) if (!(await isTaken(own.id))) return own
    return null
  }

  function looksLike(own: OwnPost, content: Content): boolean {
    const kind = KINDS[own.media_type ?? '']
    return normal(own[dialect.words] ?? '') === normal(content.text) && (kind ?? kindOf(content)) === kindOf(content)
  }

  async function postsSince(since: number, account: Credentials, { signal }: CallOptions): Promise<OwnPost[]> {
    const found: OwnPost[] = []
    let after: string | undefined
    for (let page = 0; page < MOST_PAGES; page++) {
      const params = {
        fields: `id,${dialect.words},timestamp,permalink,media_type`,
        limit: String(PAGE),
        since: String(Math.floor(since / SECOND)),
        after,
      }
      const call = { token: account.accessToken, signal }
      const { data, paging } = await api.get(pathOf(account, dialect.listPath), params, readOwnPosts, call)
      const recent = data.filter(({ timestamp }) => !(Date.parse(timestamp) < since))
      found.push(...recent)
      after = paging?.cursors?.after
      if (after === undefined || data.length === 0 || recent.length < data.length) break
    }
    return found
  }

  return { prepare, publish, reconcile, warmUp: media.warmUp }
}

/** By what a post is called when it is read; what is not here tells nothing. */
const KINDS: Readonly<Record<string, string>> = {
  TEXT_POST: 'text',
  IMAGE: 'image',
  VIDEO: 'video',
  CAROUSEL_ALBUM: 'carousel',
  REPOST_FACADE: 'repost',
}

function kindOf({ mediaItems }: Content): string {
  const [first, ...others] = mediaItems
  if (!first) return 'text'
  return others.length > 0 ? 'carousel' : toMediaKind(first.mimeType)
}

/** Platforms tidy up white space as they like. */
function normal(text: string): string {
  return text.replace(/\s+/g, ' ').trim()
}
