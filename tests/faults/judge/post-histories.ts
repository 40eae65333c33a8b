import type { Target } from '../../../src/domain/posts/targets.ts'
import { toMatchKey, type Evidence, type Operation, type StoredPost } from './evidence.ts'

/** The operations on one post, in the order of their requests, and the post as it is stored now. */
export interface PostHistory {
  /** The post's name in violation messages. */
  name: string
  postId: string
  userId: string
  keys: Set<string>
  targets: Set<Target>
  /** Null when the post was deleted or lost. */
  stored: StoredPost | null
  /** The create and the edits that took effect or may have. */
  versions: Operation[]
  cancels: Operation[]
  stops: Operation[]
  retries: Operation[]
  deletes: Operation[]
}

/** Returns whether the client knows from the response that the operation took effect. */
export const isAcknowledged = ({ status }: Operation): boolean => status !== null && status >= 200 && status < 300

/** Returns whether the client cannot know if the operation took effect: there is no response, or a 5xx. */
export const isIndeterminate = ({ status }: Operation): boolean => status === null || status >= 500

/** Returns a history for every stored post and for every post whose create was acknowledged. */
export function buildPostHistories({ operations, posts }: Evidence): PostHistory[] {
  const histories = new Map<string, PostHistory>()
  const byPost = Map.groupBy(
    operations.filter(({ postId }) => postId !== null),
    ({ postId }) => postId!,
  )
  const openCreates = operations.filter((operation) => operation.kind === 'create' && isIndeterminate(operation))
  for (const stored of posts) {
    const own = byPost.get(stored._id) ?? []
    const creates = own.some((operation) => operation.kind === 'create' && isAcknowledged(operation))
      ? []
      : openCreates.filter((create) => mayHaveCreated(create, stored))
    histories.set(stored._id, toPostHistory(stored._id, stored.userId, stored, [...creates, ...own]))
  }
  for (const [postId, own] of byPost) {
    const create = own.find((operation) => operation.kind === 'create' && isAcknowledged(operation))
    if (create && !histories.has(postId)) histories.set(postId, toPostHistory(postId, create.userId, null, own))
  }
  return [...histories.values()]
}

/** Returns whether an indeterminate create may have created this post. */
export function mayHaveCreated({ userId, input }: Operation, post: StoredPost): boolean {
  if (userId !== post.userId) return false
  if (input?.idempotencyKey !== undefined && input.idempotencyKey !== post.correlationId) return false
  return input?.text !== undefined && toMatchKey(input.text) === toMatchKey(post.content.text)
}

function toPostHistory(
  postId: string,
  userId: string,
  stored: StoredPost | null,
  operations: Operation[],
): PostHistory {
  const possible = operations.filter((operation) => isAcknowledged(operation) || isIndeterminate(operation))
  const versions = possible.filter(({ kind }) => kind === 'create' || kind === 'edit')
  const texts = versions
    .flatMap(({ input }) => [input?.text, ...Object.values(input?.overrides ?? {})])
    .filter((text) => text !== undefined)
  if (stored) texts.push(stored.content.text)
  const keys = new Set(texts.map(toMatchKey))
  const inputs = versions.flatMap(({ input }) => input ?? [])
  const targets = new Set([
    ...inputs.flatMap(({ platforms = [], accounts = [] }) => [...platforms, ...accounts]),
    ...(stored ? [...stored.selectedPlatforms, ...(stored.selectedAccounts ?? [])] : []),
  ])
  return {
    name: `post ${postId} (${[...keys][0] ?? 'unknown text'})`,
    postId,
    userId,
    keys,
    targets,
    stored,
    versions,
    cancels: possible.filter(({ kind }) => kind === 'cancel'),
    stops: possible.filter(({ kind }) => kind === 'stop'),
    retries: possible.filter(({ kind }) => kind === 'retry'),
    deletes: possible.filter(({ kind }) => kind === 'delete'),
  }
}

/** Returns whether the post is more than a draft by its record or by any of its versions. */
export function isPublishRequested({ stored, versions }: PostHistory): boolean {
  if (stored && stored.status !== 'DRAFT') return true
  return versions.some(requestsPublishing)
}

function requestsPublishing({ kind, input }: Operation): boolean {
  if (kind === 'create') return input?.status !== 'DRAFT'
  return input?.status === 'PENDING' || input?.status === 'SCHEDULED'
}

/** Returns when publishing was first requested: by the create, or by the edit that published the draft. */
export function findPublishRequestTime({ versions }: PostHistory): number {
  return Math.min(...versions.filter(requestsPublishing).map(({ sentAt }) => sentAt))
}

/**
 * Returns the values that a field may have had at an instant, as far as the clients know: every value requested before it that no
 * acknowledged later request had replaced. Requests that overlap may have taken effect in either order.
 */
export function listPossibleValues<T>(
  { versions }: PostHistory,
  field: (version: Operation) => T | undefined,
  at: number,
): T[] {
  const setting = versions.filter((version) => field(version) !== undefined)
  return setting
    .filter((version) => version.sentAt <= at)
    .filter(
      (version) =>
        isIndeterminate(version) ||
        !setting.some((next) => isAcknowledged(next) && next.sentAt > version.answeredAt! && next.answeredAt! < at),
    )
    .map((version) => field(version)!)
}

/** Returns the due time that a version sets, in milliseconds; "now" is the time of its request. */
export function toDueTime({ kind, sentAt, input }: Operation): number | undefined {
  if (input?.scheduledAt === null || (kind === 'create' && input?.scheduledAt === undefined)) return sentAt
  return input?.scheduledAt
}
