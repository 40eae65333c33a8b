import type { Static } from '@sinclair/typebox'
import type { FastifyBaseLogger, FastifyRequest } from 'fastify'
import type { CreatedPost } from '../../commands/posts/create-post.ts'
import {
  DELIVERY_STATUSES,
  type Content,
  type ContentOverride,
  type LinkChoice,
  type MediaItem,
  type PlatformStatus,
  type Post,
  type PostMetadata,
  type PostSource,
  type PublishedChange,
} from '../../domain/posts/post.ts'
import { explainFailure } from '../../domain/posts/failure.ts'
import { findOpenEntry, listPlatforms, toFailure } from '../../domain/posts/post-entries.ts'
import { resolveContent } from '../../domain/posts/content.ts'
import { toParts } from '../../domain/posts/parts.ts'
import type { Platform } from '../../domain/shared/platforms.ts'
import { toTarget } from '../../domain/posts/targets.ts'
import type { TimelineEvent } from '../../domain/posts/timeline.ts'
import type { CalendarPost } from '../../store/posts/post-lists.ts'
import type { ListedPost } from '../../store/posts/shorten-posts.ts'
import type { PostSnapshot } from '../../store/analytics/snapshots.ts'
import { toETag } from '../shared/etags.ts'
import { presentAll } from '../shared/odd-records.ts'
import { toInstant } from '../shared/schemas/common.ts'
import { presentSnapshots } from '../shared/schemas/snapshot.ts'
import type { CalendarPostView, ListedPostView } from './schemas/list.ts'
import type { ClientHeaders } from './schemas/post-input.ts'
import type { PlatformStatusView, PostPartView, PostView } from './schemas/post.ts'
import type { PostProgressView, PostTimelineView } from './schemas/progress.ts'

/** Converts a post for its owner. Fields that are not listed stay internal: delivery records, request hashes, revisions. */
export function presentPost(post: Post): PostView {
  return {
    _id: post._id,
    userId: post.userId,
    content: presentContent(post.content),
    selectedPlatforms: listPlatforms(post),
    ...(post.selectedAccounts?.length && { selectedAccounts: post.selectedAccounts }),
    ...(post.groups?.length && { selectedGroups: post.groups.map(({ id }) => id), groups: post.groups }),
    platformSpecificContent: presentOverrides(post.platformSpecificContent),
    ...(Object.keys(post.accountSpecificContent ?? {}).length > 0 && {
      accountSpecificContent: presentOverrides(post.accountSpecificContent!),
    }),
    scheduledAt: toInstant(post.scheduledAt),
    dueAt: toInstant(post.dueAt),
    ...(post.ifLate && { ifLate: { action: post.ifLate.action, afterMinutes: post.ifLate.afterMinutes } }),
    timezone: post.timezone,
    status: post.status,
    platformStatuses: post.platformStatuses.map((entry) => presentPlatformStatus(post, entry)),
    correlationId: post.correlationId,
    metadata: { source: post.metadata.source, client: post.metadata.client },
    createdAt: post.createdAt.toISOString(),
    updatedAt: post.updatedAt.toISOString(),
    etag: toETag(post),
  }
}

/** @param metrics the latest snapshots by post id, or null when the client did not request them */
export function presentListedPost(post: ListedPost, metrics: Map<string, PostSnapshot[]> | null): ListedPostView {
  return {
    ...presentPost(post),
    ...(post.isShortened ? { isShortened: true } : {}),
    ...(metrics && presentSnapshots(metrics.get(post._id) ?? [])),
  }
}

export function presentCalendarPost(post: CalendarPost): CalendarPostView {
  const { _id, status, text, mediaCount, metadata } = post
  return {
    ...{ _id, status, text, mediaCount, metadata },
    scheduledAt: toInstant(post.scheduledAt),
    createdAt: post.createdAt.toISOString(),
    platforms: listPlatforms(post),
    accounts: post.platformStatuses.flatMap(({ accountId }) => accountId ?? []),
    etag: toETag(post),
  }
}

export function presentProgress(post: Post): PostProgressView {
  const count = (expected: PlatformStatus['status']) =>
    post.platformStatuses.filter(({ status }) => status === expected).length
  const [pending, processing, completed, failed, deleted] = DELIVERY_STATUSES.map(count) as [
    number,
    number,
    number,
    number,
    number,
  ]
  return {
    postId: post._id,
    status: post.status,
    platformStatuses: post.platformStatuses.map((entry) => presentPlatformStatus(post, entry)),
    scheduledAt: toInstant(post.scheduledAt),
    dueAt: toInstant(post.dueAt),
    createdAt: post.createdAt.toISOString(),
    updatedAt: post.updatedAt.toISOString(),
    progress: { total: post.platformStatuses.length, pending, processing, completed, failed, deleted },
  }
}

export function presentTimeline(
  postId: string,
  events: TimelineEvent[],
  log: Pick<FastifyBaseLogger, 'error'>,
): PostTimelineView {
  return { postId, events: presentAll(events, presentTimelineEvent, log) }
}

function presentTimelineEvent(event: TimelineEvent): PostTimelineView['events'][number] {
  const { at, type, status, platform, accountId, result, code, platformReason, round, attempt, part, until, runId } =
    event
  return {
    at: at.toISOString(),
    type,
    ...(status ? { status } : {}),
    ...(platform ? { platform } : {}),
    ...(accountId ? { accountId } : {}),
    ...(result ? { result } : {}),
    ...(code ? { errorCode: code } : {}),
    ...(platformReason?.code ? { platformCode: platformReason.code } : {}),
    ...(platformReason?.text ? { platformText: platformReason.text } : {}),
    ...(round === undefined ? {} : { round }),
    ...(attempt === undefined ? {} : { attempt }),
    ...(part === undefined ? {} : { part }),
    ...(until ? { until: until.toISOString() } : {}),
    ...(runId ? { workflowRunId: runId } : {}),
  }
}

function presentPlatformStatus(post: Post, entry: PlatformStatus): PlatformStatusView {
  const reason = toFailure(entry)
  const parts = presentParts(post, entry)
  const isOpen = findOpenEntry(post, toTarget(entry), entry.delivery.round) !== null
  return {
    platform: entry.platform,
    accountId: entry.accountId ?? null,
    accountName: entry.accountName ?? null,
    server: entry.server ?? null,
    status: entry.status,
    platformPostId: entry.platformPostId,
    platformPostUrl: entry.platformPostUrl,
    ...(entry.warning !== undefined && { warning: entry.warning }),
    error: reason && explainFailure(reason, entry.platform),
    errorCode: entry.errorCode,
    ...(parts && { parts }),
    ...(entry.removal && { removal: presentChange(entry.platform, entry.removal) }),
    ...(entry.revisions && {
      revisions: entry.revisions.map((one) => ({ text: one.text, ...presentChange(entry.platform, one) })),
    }),
    ...(entry.replacedBy && { replacedBy: entry.replacedBy }),
    nextAttemptAt: isOpen ? toInstant(entry.delivery.nextAttemptAt) : null,
    attemptCount: entry.attemptCount,
    lastAttemptAt: toInstant(entry.lastAttemptAt),
    completedAt: toInstant(entry.completedAt),
    lastAnalyticsFetch: toInstant(entry.lastAnalyticsFetch),
  }
}

function presentChange(platform: Platform, change: PublishedChange): NonNullable<PlatformStatusView['removal']> {
  const { status, requestedAt, requestedBy } = change
  const reason = change.status === 'failed' ? toFailure(change) : null
  return {
    ...{ status, requestedAt: requestedAt.toISOString(), requestedBy },
    completedAt: change.status === 'completed' ? change.completedAt.toISOString() : null,
    ...{ error: reason && explainFailure(reason, platform), errorCode: reason?.code ?? null },
  }
}

/** Presents the parts of a thread and the comment below it; undefined for a single post, and for a shortened one, which lacks them. */
function presentParts(post: Post, entry: PlatformStatus): PostPartView[] | undefined {
  const all = toParts(entry.platform, resolveContent(post, entry))
  if (all.length === 1) return undefined
  const { parts: published = [], comment } = entry
  return all.map(({ kind }, index): PostPartView => {
    const ended = kind === 'comment' && comment?.status === 'completed' ? comment : published[index]
    if (ended) {
      const { platformPostId, platformPostUrl, warning } = ended
      const completed = { kind, status: 'completed' as const, platformPostId, platformPostUrl }
      const end = { error: null, errorCode: null, completedAt: ended.completedAt.toISOString() }
      return { ...completed, ...(warning !== undefined && { warning }), ...end }
    }
    const isNext = index === published.length
    const reason =
      kind === 'comment' && comment?.status === 'failed' ? toFailure(comment) : isNext ? toFailure(entry) : null
    const status = comment?.status === 'failed' ? 'failed' : isNext ? entry.status : 'pending'
    return {
      ...{ kind, status, platformPostId: null, platformPostUrl: null },
      ...{
        error: reason && explainFailure(reason, entry.platform),
        errorCode: reason?.code ?? null,
        completedAt: null,
      },
    }
  })
}

function presentContent(content: Content): PostView['content'] {
  return { ...presentOverride(content), text: content.text, mediaItems: content.mediaItems.map(presentMediaItem) }
}

function presentOverride({ text, mediaItems, segments, firstComment, onUnsupported, options, link }: ContentOverride) {
  return {
    ...(text !== undefined && { text }),
    ...(mediaItems && { mediaItems: mediaItems.map(presentMediaItem) }),
    ...(segments && {
      segments: segments.map((segment) => ({
        text: segment.text,
        mediaItems: segment.mediaItems.map(presentMediaItem),
      })),
    }),
    ...(firstComment !== undefined && { firstComment }),
    ...(onUnsupported !== undefined && { onUnsupported }),
    ...(options && { options }),
    ...(link !== undefined && { link: presentLink(link) }),
  }
}

function presentLink(link: LinkChoice): NonNullable<PostView['content']['link']> {
  if (typeof link === 'string') return link
  const { image, ...card } = link
  return { ...card, ...(image && { image: presentMediaItem(image) }) }
}

function presentOverrides(overrides: Record<string, ContentOverride>) {
  return Object.fromEntries(Object.entries(overrides).map(([name, override]) => [name, presentOverride(override)]))
}

function presentMediaItem({
  storageKey,
  storageUrl,
  mimeType,
  originalFilename,
  sizeBytes,
  width,
  height,
  duration,
  altText,
}: MediaItem) {
  const optional = { originalFilename, sizeBytes, width, height, duration, altText }
  const present = Object.fromEntries(Object.entries(optional).filter(([, value]) => value !== undefined))
  return { storageKey, storageUrl, mimeType, ...present } as PostView['content']['mediaItems'][number]
}

/** Converts the result of a create or a duplicate. */
export function presentCreatedPost({ postId, status, scheduledAt, dueAt, warnings }: CreatedPost) {
  return { postId, status, scheduledAt: toInstant(scheduledAt), dueAt: toInstant(dueAt), warnings }
}

/** Returns `web` for requests with an Origin header: browsers send it, API clients do not. */
export function toPostSource({ headers, user }: Pick<FastifyRequest, 'headers' | 'user'>): PostSource {
  return headers.origin === undefined || user.apiKey ? 'api' : 'web'
}

/** Returns where a post of this request comes from. */
export function toPostMetadata(
  request: Pick<FastifyRequest, 'user'> & { headers: FastifyRequest['headers'] & Static<typeof ClientHeaders> },
): PostMetadata {
  return { source: toPostSource(request), client: request.headers['x-postonce-client'] ?? 'api' }
}
