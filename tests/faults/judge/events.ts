import { toTarget } from '../../../src/domain/posts/targets.ts'
import type { Evidence, StoredEvent, StoredPost, Violation } from './evidence.ts'
import type { PostHistory } from './post-histories.ts'

const ENDINGS: Record<string, string> = {
  COMPLETED: 'post.published',
  PARTIAL_SUCCESS: 'post.partial',
  FAILED: 'post.failed',
  CANCELLED: 'post.cancelled',
}

/** I9: the feed of each user has every change exactly once, with sequences from 1 without gaps. */
export function judgeEvents({ events, posts, platforms }: Evidence, histories: PostHistory[]): Violation[] {
  if (events === null) return []
  const byPost = Map.groupBy(events, ({ data }) => data.postId)
  const accepted = new Set(platforms.flatMap(({ ledger }) => ledger.map(({ id }) => id)))
  const found = [
    ...findDisorder(events),
    ...posts.filter(({ pendingEvents = [] }) => pendingEvents.length > 0).map(describeLeftOver),
    ...histories.flatMap((history) => judgePost(history, byPost.get(history.postId) ?? [])),
    ...events
      .filter(({ type, data }) => type === 'delivery.accepted' && !accepted.has(data.platformPostId!))
      .map(describeUnfounded),
    ...findUnknownPosts(byPost, histories),
  ]
  return found.map((message) => ({ invariant: 'I9', message }))
}

function findDisorder(events: StoredEvent[]): string[] {
  const found: string[] = []
  for (const [id, same] of Map.groupBy(events, ({ _id }) => _id)) {
    if (same.length > 1) found.push(`the event ${id} is stored ${same.length} times`)
  }
  for (const [userId, feed] of Map.groupBy(events, (event) => event.userId)) {
    const sequences = feed.map(({ sequence }) => sequence).toSorted((one, other) => one - other)
    const wrong = sequences.findIndex((sequence, index) => sequence !== index + 1)
    if (wrong >= 0) found.push(`the feed of ${userId} has the sequence ${sequences[wrong]} at place ${wrong + 1}`)
  }
  return found
}

/** The events of a post in the order of the feed, compared with its record or its deletion. */
function judgePost({ name, stored }: PostHistory, unordered: StoredEvent[]): string[] {
  const events = unordered.toSorted((one, other) => one.sequence - other.sequence)
  const found: string[] = []
  const expect = (type: string, isIt: (event: StoredEvent) => boolean, count: number, upTo = count) => {
    const actual = events.filter(isIt).length
    if (actual < count || actual > upTo) found.push(`${name} has ${actual} events ${type}, but should have ${count}`)
  }
  expect('post.created', ({ type }) => type === 'post.created', 1)
  if (events.length > 0 && events[0]!.type !== 'post.created') found.push(`${name} begins with ${events[0]!.type}`)
  expect('post.deleted', ({ type }) => type === 'post.deleted', stored ? 0 : 1)
  if (!stored) return found
  const lastEnding = events.findLast(({ type }) => Object.values(ENDINGS).includes(type))?.type
  const hasBegun = !['DRAFT', 'PENDING', 'SCHEDULED'].includes(stored.status)
  const ending = ENDINGS[stored.status]
  if (ending && lastEnding !== ending) found.push(`${name} is ${stored.status}, but its last event is ${lastEnding}`)
  if (!hasBegun && lastEnding) found.push(`${name} is ${stored.status}, but has the event ${lastEnding}`)
  if (stored.status === 'SCHEDULED') {
    const last = events.findLast(({ type }) => type === 'post.scheduled')?.data.scheduledAt
    const scheduledAt = stored.scheduledAt?.toISOString()
    if (last !== scheduledAt) found.push(`${name} is scheduled for ${scheduledAt}, but its last event says ${last}`)
  }
  for (const { status, delivery, ...entry } of stored.platformStatuses) {
    // The id of an event names the delivery.
    const own = `evt_${stored._id}-${toTarget(entry)}-`
    const isAccepted = status === 'completed' || status === 'deleted'
    expect(`of the acceptance ${own}`, ({ _id }) => _id === `${own}accepted`, isAccepted ? 1 : 0)
    // Every round before the last one has failed: only a failed round is retried. A failed round may still be accepted late.
    const failures = status === 'failed' ? delivery.round + 1 : delivery.round
    const isFailure = ({ _id }: StoredEvent) => _id.startsWith(own) && _id.endsWith('-failed')
    expect(`of the failures ${own}`, isFailure, failures, isAccepted ? failures + 1 : failures)
  }
  return found
}

function findUnknownPosts(byPost: Map<string | undefined, StoredEvent[]>, histories: PostHistory[]): string[] {
  const known = new Set<string | undefined>([undefined, ...histories.map(({ postId }) => postId)])
  return [...byPost.keys()]
    .filter((postId) => !known.has(postId))
    .map((postId) => `the feed has events of the post ${postId}, which no create made`)
}

const describeLeftOver = ({ _id, pendingEvents }: StoredPost): string =>
  `post ${_id} has ${pendingEvents!.length} events that are not in the feed`

const describeUnfounded = ({ _id, data }: StoredEvent): string =>
  `the event ${_id} names ${data.platformPostId}, which no platform has`
