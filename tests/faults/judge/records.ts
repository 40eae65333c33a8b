import { toTarget } from '../../../src/domain/posts/targets.ts'
import type { Evidence, Operation, StoredPost, Violation } from './evidence.ts'
import { isAcknowledged, isIndeterminate, mayHaveCreated, type PostHistory } from './post-histories.ts'

const FINAL = ['COMPLETED', 'PARTIAL_SUCCESS', 'FAILED', 'CANCELLED']

/** I2: no acknowledged post is lost, and every due post has a final status. */
export function judgeProgress({ at }: Evidence, histories: PostHistory[]): Violation[] {
  const found = histories.flatMap(({ name, stored, deletes, versions }) => {
    if (!stored) {
      const create = versions.find(({ kind }) => kind === 'create')
      return deletes.length > 0 ? [] : [`${name}: its create returned ${create?.status}, but the post is not stored`]
    }
    if (stored.status === 'DRAFT' || FINAL.includes(stored.status)) return []
    if (stored.status === 'SCHEDULED' && stored.dueAt !== null && stored.dueAt.getTime() > at) return []
    const entries = stored.platformStatuses.map((entry) => `${toTarget(entry)} ${entry.status}`).join(', ')
    return [`${name} is still ${stored.status} (${entries}), due ${stored.dueAt?.toISOString()}`]
  })
  return found.map((message) => ({ invariant: 'I2', message }))
}

/** I4: the usage equals the acknowledged creates, never exceeds the limit, and an idempotency key has one post. */
export function judgeUsage({ users, operations, posts }: Evidence): Violation[] {
  const found: string[] = []
  for (const { _id: userId, usage, limits } of users) {
    const creates = operations.filter((operation) => operation.kind === 'create' && operation.userId === userId)
    const acknowledged = new Set(creates.filter(isAcknowledged).map(({ postId }) => postId!))
    const own = posts.filter((post) => post.userId === userId)
    const unacknowledged = own.filter(({ _id }) => !acknowledged.has(_id))
    for (const post of unacknowledged) {
      if (creates.some((create) => isIndeterminate(create) && mayHaveCreated(create, post))) continue
      found.push(`post ${post._id} ("${post.content.text}") is stored, but no create of it was acknowledged`)
    }
    const counted = acknowledged.size + unacknowledged.length
    if (usage.postsCreated !== counted) {
      found.push(
        `user ${userId} has usage.postsCreated ${usage.postsCreated}, but created ${counted} posts (${acknowledged.size} acknowledged)`,
      )
    }
    if (usage.postsCreated > limits.maxPosts || counted > limits.maxPosts) {
      found.push(
        `user ${userId} created ${counted} posts (usage.postsCreated ${usage.postsCreated}), over the limit of ${limits.maxPosts}`,
      )
    }
    found.push(...findKeysWithSeveralPosts(userId, creates, own))
  }
  return found.map((message) => ({ invariant: 'I4', message }))
}

function findKeysWithSeveralPosts(userId: string, creates: Operation[], posts: StoredPost[]): string[] {
  const postIdsByKey = new Map<string, Set<string>>()
  const add = (key: string | null | undefined, postId: string | null) => {
    if (key && postId) postIdsByKey.set(key, (postIdsByKey.get(key) ?? new Set()).add(postId))
  }
  for (const create of creates.filter(isAcknowledged)) add(create.input?.idempotencyKey, create.postId)
  for (const { correlationId, _id } of posts) add(correlationId, _id)
  return [...postIdsByKey]
    .filter(([, ids]) => ids.size > 1)
    .map(([key, ids]) => `user ${userId} got ${ids.size} posts for the idempotency key ${key}: ${[...ids].join(', ')}`)
}

/** I5: once delivery has begun, the status is the roll-up; before that, every entry is pending. Checks the database and all responses. */
export function judgeRollUp({ posts, operations }: Evidence): Violation[] {
  const stored = posts.map((post) => ({ source: 'stored', name: `post ${post._id}`, state: post as State }))
  const shown = operations.flatMap((operation) => {
    const state = toShownState(operation)
    return state ? [{ source: `shown at ${operation.answeredAt}`, name: `post ${operation.postId}`, state }] : []
  })
  return [...stored, ...shown].flatMap(({ source, name, state: { status, platformStatuses } }) => {
    const entries = platformStatuses.map((entry) => entry.status)
    const hasBegun = !['DRAFT', 'PENDING', 'SCHEDULED', 'CANCELLED'].includes(status)
    const isConsistent = hasBegun ? status === rollUp(entries) : entries.every((entry) => entry === 'pending')
    if (isConsistent) return []
    return [{ invariant: 'I5' as const, message: `${name} is ${source} as ${status} with ${entries.join(', ')}` }]
  })
}

interface State {
  status: string
  platformStatuses: { status: string }[]
}

/** Returns the state that a response shows; null for any response other than a successful read. */
function toShownState({ kind, status, body }: Operation): State | null {
  const data = (body as { data?: Partial<State> } | undefined)?.data
  if (kind !== 'read' || status !== 200 || !data?.status || !data.platformStatuses) return null
  return { status: data.status, platformStatuses: data.platformStatuses }
}

/** Implements the rule independently of the service's own function. */
function rollUp(entries: string[]): string {
  if (entries.some((entry) => entry === 'pending' || entry === 'processing')) return 'PROCESSING'
  const failed = entries.filter((entry) => entry === 'failed').length
  return failed === 0 ? 'COMPLETED' : failed === entries.length ? 'FAILED' : 'PARTIAL_SUCCESS'
}

/** I6: every event has exactly one stored notification. */
export function judgeNotifications({ notifications }: Evidence, histories: PostHistory[]): Violation[] {
  const found: string[] = []
  for (const [key, same] of Map.groupBy(notifications, ({ dedupeKey }) => dedupeKey)) {
    if (same.length > 1) found.push(`${same.length} notifications are stored for the same event ${key}`)
  }
  const byPost = Map.groupBy(notifications, ({ reference }) => reference.id)
  for (const { name, stored } of histories) {
    if (!stored) continue
    const keys = new Set((byPost.get(stored._id) ?? []).map(({ dedupeKey }) => dedupeKey))
    const expect = (event: string, count = 1) => {
      const actual = [...keys].filter((key) => key === event || key.startsWith(`${event}:`)).length
      if (actual !== count) found.push(`${name} has ${actual} notifications of ${event}, but should have ${count}`)
    }
    expect(`post-created:${stored._id}`, stored.status === 'DRAFT' ? 0 : 1)
    if (stored.status === 'CANCELLED') continue
    for (const entry of stored.platformStatuses) {
      const { status, delivery } = entry
      const event = `${stored._id}:${toTarget(entry)}`
      if (status === 'completed') expect(`post-published:${event}`)
      // Every round before the last one failed: only a failed round is retried.
      const lastFailed = status === 'failed' ? delivery.round : delivery.round - 1
      for (let round = 0; round <= lastFailed; round++) expect(`post-failed:${event}:${round}`)
    }
  }
  return found.map((message) => ({ invariant: 'I6', message }))
}
