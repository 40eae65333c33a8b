import type { Platform } from '../../../src/domain/shared/platforms.ts'
import { keyOf, type Evidence, type Operation, type StoredPost } from './evidence.ts'

/** One post as its owner lived it: what was asked for it, what was answered, and what is stored now. */
export interface Story {
  /** How sentences call it. */
  name: string
  postId: string
  userId: string
  keys: Set<string>
  platforms: Set<Platform>
  /** Null: deleted, or lost. */
  stored: StoredPost | null
  /** The create and the edits that were done, or may have been. */
  versions: Operation[]
  cancels: Operation[]
  deletes: Operation[]
}

/** Acknowledged: the client knows that it was done. */
export const isDone = ({ status }: Operation): boolean => status !== null && status >= 200 && status < 300

/** No answer, or one that leaves open what was done. */
export const isOpen = ({ status }: Operation): boolean => status === null || status >= 500

/** Every post that is stored, or whose create was acknowledged. */
export function storiesOf({ operations, posts }: Evidence): Story[] {
  const stories = new Map<string, Story>()
  const byPost = Map.groupBy(
    operations.filter(({ postId }) => postId !== null),
    ({ postId }) => postId!,
  )
  const openCreates = operations.filter((operation) => operation.kind === 'create' && isOpen(operation))
  for (const stored of posts) {
    const own = byPost.get(stored._id) ?? []
    const creates = own.some((operation) => operation.kind === 'create' && isDone(operation))
      ? []
      : openCreates.filter((create) => mayHaveMade(create, stored))
    stories.set(stored._id, tell(stored._id, stored.userId, stored, [...creates, ...own]))
  }
  for (const [postId, own] of byPost) {
    const create = own.find((operation) => operation.kind === 'create' && isDone(operation))
    if (create && !stories.has(postId)) stories.set(postId, tell(postId, create.userId, null, own))
  }
  return [...stories.values()]
}

/** Whether a create without an answer may be where this post comes from. */
export function mayHaveMade({ userId, wish }: Operation, post: StoredPost): boolean {
  if (userId !== post.userId) return false
  if (wish?.idempotencyKey !== undefined && wish.idempotencyKey !== post.correlationId) return false
  return wish?.text !== undefined && keyOf(wish.text) === keyOf(post.content.text)
}

function tell(postId: string, userId: string, stored: StoredPost | null, operations: Operation[]): Story {
  const possible = operations.filter((operation) => isDone(operation) || isOpen(operation))
  const versions = possible.filter(({ kind }) => kind === 'create' || kind === 'edit')
  const texts = versions
    .flatMap(({ wish }) => [wish?.text, ...Object.values(wish?.overrides ?? {})])
    .filter((text) => text !== undefined)
  if (stored) texts.push(stored.content.text)
  const keys = new Set(texts.map(keyOf))
  const platforms = new Set(versions.flatMap(({ wish }) => wish?.platforms ?? []))
  for (const platform of stored?.selectedPlatforms ?? []) platforms.add(platform)
  return {
    name: `post ${postId} (${[...keys][0] ?? 'unknown words'})`,
    postId,
    userId,
    keys,
    platforms,
    stored,
    versions,
    cancels: possible.filter(({ kind }) => kind === 'cancel'),
    deletes: possible.filter(({ kind }) => kind === 'delete'),
  }
}

/** Whether any version asked for more than a draft. */
export function isMeantToGoOut({ stored, versions }: Story): boolean {
  if (stored && stored.status !== 'DRAFT') return true
  return versions.some(({ kind, wish }) => (kind === 'create' ? wish?.status !== 'DRAFT' : isPublishing(wish?.status)))
}

const isPublishing = (status: string | undefined): boolean => status === 'PENDING' || status === 'SCHEDULED'

/** When publishing was first requested: by the create, or by the edit that published the draft. */
export function publishedFrom({ versions }: Story): number {
  const asked = versions.filter(({ kind, wish }) =>
    kind === 'create' ? wish?.status !== 'DRAFT' : isPublishing(wish?.status),
  )
  return Math.min(...asked.map(({ sentAt }) => sentAt))
}

/**
 * What a field may have been at an instant, by what the clients know: every value that was asked for before it and that no
 * acknowledged later one has replaced. Requests that overlap may have come in either order.
 */
export function possibleAt<T>({ versions }: Story, field: (version: Operation) => T | undefined, at: number): T[] {
  const setting = versions.filter((version) => field(version) !== undefined)
  return setting
    .filter((version) => version.sentAt <= at)
    .filter(
      (version) =>
        isOpen(version) ||
        !setting.some((later) => isDone(later) && later.sentAt > version.answeredAt! && later.answeredAt! < at),
    )
    .map((version) => field(version)!)
}

/** The instant a version asked for; "now" is when it was asked. */
export function instantOf({ kind, sentAt, wish }: Operation): number | undefined {
  if (wish?.scheduledAt === null || (kind === 'create' && wish?.scheduledAt === undefined)) return sentAt
  return wish?.scheduledAt
}
