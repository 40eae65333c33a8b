import type { Evidence, Operation, StoredPost, Violation } from './evidence.ts'
import { isDone, isOpen, mayHaveMade, type Story } from './stories.ts'

const FINAL = ['COMPLETED', 'PARTIAL_SUCCESS', 'FAILED', 'CANCELLED']

/** I2: no accepted post is lost, and every due post has ended. */
export function judgeEnds({ at }: Evidence, stories: Story[]): Violation[] {
  const found = stories.flatMap(({ name, stored, deletes, versions }) => {
    if (!stored) {
      const create = versions.find(({ kind }) => kind === 'create')
      return deletes.length > 0 ? [] : [`${name}: its create was answered ${create?.status}, and nothing is stored`]
    }
    if (stored.status === 'DRAFT' || FINAL.includes(stored.status)) return []
    if (stored.status === 'SCHEDULED' && stored.dueAt !== null && stored.dueAt.getTime() > at) return []
    const entries = stored.platformStatuses.map(({ platform, status }) => `${platform} ${status}`).join(', ')
    return [`${name} is still ${stored.status} (${entries}), due ${stored.dueAt?.toISOString()}`]
  })
  return found.map((sentence) => ({ invariant: 'I2', sentence }))
}

/** I4: the counted posts are the acknowledged ones, one for each idempotency key, and never more than allowed. */
export function judgeUsage({ users, operations, posts }: Evidence): Violation[] {
  const found: string[] = []
  for (const { _id: userId, usage, limits } of users) {
    const creates = operations.filter(({ kind, userId: who }) => kind === 'create' && who === userId)
    const acknowledged = new Set(creates.filter(isDone).map(({ postId }) => postId!))
    const own = posts.filter((post) => post.userId === userId)
    const unacknowledged = own.filter(({ _id }) => !acknowledged.has(_id))
    for (const post of unacknowledged) {
      if (creates.some((create) => isOpen(create) && mayHaveMade(create, post))) continue
      found.push(`post ${post._id} ("${post.content.text}") is stored, but no create of it was accepted`)
    }
    const counted = acknowledged.size + unacknowledged.length
    if (usage.postsCreated !== counted) {
      found.push(
        `user ${userId} has usage.postsCreated ${usage.postsCreated}, but made ${counted} posts (${acknowledged.size} acknowledged)`,
      )
    }
    if (usage.postsCreated > limits.maxPosts || counted > limits.maxPosts) {
      found.push(`user ${userId} made ${counted} posts, counted ${usage.postsCreated}, and may make ${limits.maxPosts}`)
    }
    found.push(...keysWithSeveralPosts(userId, creates, own))
  }
  return found.map((sentence) => ({ invariant: 'I4', sentence }))
}

function keysWithSeveralPosts(userId: string, creates: Operation[], posts: StoredPost[]): string[] {
  const made = new Map<string, Set<string>>()
  const note = (key: string | null | undefined, postId: string | null) => {
    if (key && postId) made.set(key, (made.get(key) ?? new Set()).add(postId))
  }
  for (const create of creates.filter(isDone)) note(create.wish?.idempotencyKey, create.postId)
  for (const { correlationId, _id } of posts) note(correlationId, _id)
  return [...made]
    .filter(([, ids]) => ids.size > 1)
    .map(([key, ids]) => `user ${userId} got ${ids.size} posts for the idempotency key ${key}: ${[...ids].join(', ')}`)
}

/** I5: once delivery began the status is the roll-up; before that every entry is pending. Asked of the store and of every answer. */
export function judgeRollUp({ posts, operations }: Evidence): Violation[] {
  const stored = posts.map((post) => ({ where: 'stored', name: `post ${post._id}`, state: post as State }))
  const shown = operations.flatMap((operation) => {
    const state = shownState(operation)
    return state ? [{ where: `shown at ${operation.answeredAt}`, name: `post ${operation.postId}`, state }] : []
  })
  return [...stored, ...shown].flatMap(({ where, name, state: { status, platformStatuses } }) => {
    const entries = platformStatuses.map((entry) => entry.status)
    const hasBegun = !['DRAFT', 'PENDING', 'SCHEDULED', 'CANCELLED'].includes(status)
    const fits = hasBegun ? status === rollUp(entries) : entries.every((entry) => entry === 'pending')
    if (fits) return []
    return [{ invariant: 'I5' as const, sentence: `${name} is ${where} as ${status} with ${entries.join(', ')}` }]
  })
}

interface State {
  status: string
  platformStatuses: { status: string }[]
}

function shownState({ kind, status, body }: Operation): State | null {
  const data = (body as { data?: Partial<State> } | undefined)?.data
  if (kind !== 'read' || status !== 200 || !data?.status || !data.platformStatuses) return null
  return { status: data.status, platformStatuses: data.platformStatuses }
}

/** By the words of the specification, not by the service's own function. */
function rollUp(entries: string[]): string {
  if (entries.some((entry) => entry === 'pending' || entry === 'processing')) return 'PROCESSING'
  const failed = entries.filter((entry) => entry === 'failed').length
  return failed === 0 ? 'COMPLETED' : failed === entries.length ? 'FAILED' : 'PARTIAL_SUCCESS'
}

/** I6: one stored notification for each event: no event is reported twice or omitted. */
export function judgeNotifications({ notifications }: Evidence, stories: Story[]): Violation[] {
  const found: string[] = []
  for (const [key, same] of Map.groupBy(notifications, ({ dedupeKey }) => dedupeKey)) {
    if (same.length > 1) found.push(`${same.length} notifications are stored for the one event ${key}`)
  }
  const byPost = Map.groupBy(notifications, ({ reference }) => reference.id)
  for (const { name, stored } of stories) {
    if (!stored) continue
    const keys = new Set((byPost.get(stored._id) ?? []).map(({ dedupeKey }) => dedupeKey))
    const expect = (event: string, count = 1) => {
      const told = [...keys].filter((key) => key === event || key.startsWith(`${event}:`)).length
      if (told !== count) found.push(`${name} has ${told} notifications of ${event}, and should have ${count}`)
    }
    expect(`post-created:${stored._id}`, stored.status === 'DRAFT' ? 0 : 1)
    if (stored.status === 'CANCELLED') continue
    const rounds = stored.platformStatuses.map(({ delivery }) => delivery.round)
    const isMany = rounds.length > 1
    const hasEnded = ['COMPLETED', 'PARTIAL_SUCCESS', 'FAILED'].includes(stored.status)
    // Every round that was retried had ended.
    expect(`post-ended:${stored._id}`, isMany ? Math.max(...rounds) + (hasEnded ? 1 : 0) : 0)
    for (const { platform, status, delivery } of stored.platformStatuses) {
      const event = `${stored._id}:${platform}`
      if (status === 'completed') expect(`post-published:${event}`)
      // Every round before the last one ended in a failure, or there would have been no retry.
      const lastFailed = status === 'failed' ? delivery.round : delivery.round - 1
      for (let round = 0; round <= lastFailed; round++) expect(`post-failed:${event}:${round}`)
    }
  }
  return found.map((sentence) => ({ invariant: 'I6', sentence }))
}
