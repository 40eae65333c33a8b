import { EffectTaken } from '../../domain/posts/delivery-moves.ts'
import type { Move, PlatformStatus, Post } from '../../domain/posts/post.ts'
import { postNotFound } from './post-not-found.ts'
import { toTarget } from '../../domain/posts/targets.ts'
import { derivePostEvents } from '../../domain/events/post-events.ts'
import { addNotifications, type NotifiedEvent } from '../../domain/notifications/post-notifications.ts'
import { deriveEvents, TIMELINE_LENGTH, type TimelineEvent } from '../../domain/posts/timeline.ts'
import { keyedBatcher } from '../shared/batching.ts'
import type { PostRef } from './pending-events.ts'
import type { PlatformPosts } from './platform-posts.ts'
import type { PostCollection } from './post-schema.ts'

/** Options of a transition. */
interface TransitionOptions {
  /** The workflow run that requests the move; stored in the timeline. */
  runId?: string
  /** Events since the last move that are not stored yet. */
  notes?: TimelineEvent[]
  /**
   * True when the post is probably unchanged since this process last saw it, so the first try skips the read. Not for moves that depend
   * on `startPending`, which changes without the revision.
   */
  isKnown?: boolean
}

/** The events that a write stores with the post. */
interface Logs {
  timeline: TimelineEvent[]
  pendingEvents: NotifiedEvent[]
}

type RequestedMove = { post: PostRef; move: Move } & TransitionOptions

/** The number of posts whose latest state this process caches. */
const MAX_KNOWN_POSTS = 2_000

interface TransitionDeps {
  collection: PostCollection
  /** Reads a post; callers may pass the result to `remember`. */
  find(postId: string, userId: string): Promise<Post | null>
  platformPosts: Pick<PlatformPosts, 'claim'>
  /** Called after a write that has stored events for the feed. */
  onPendingEvents(post: PostRef): void
  now(): Date
}

/** Applies moves to stored posts. Every change of a stored post goes through here. */
export function createTransitions({ collection, find, platformPosts, onPendingEvents, now }: TransitionDeps) {
  const enqueue = keyedBatcher<Post, RequestedMove>(applyMoves)
  const known = new Map<string, Post>()

  function remember(post: Post): void {
    const { revision = -1 } = known.get(post._id) ?? {}
    if (post.revision < revision) return
    known.delete(post._id)
    known.set(post._id, post)
    if (known.size > MAX_KNOWN_POSTS) known.delete(known.keys().next().value!)
  }

  /** Applies all waiting moves with at most one read and one conditional write; each gets its own post or error. */
  async function applyMoves(
    postId: string,
    requests: RequestedMove[],
    settle: (index: number, result: Post | Error) => void,
  ) {
    const { userId } = requests[0]!.post
    const areKnown = requests.every(({ isKnown }) => isKnown)
    let remembered = areKnown ? known.get(postId) : undefined
    for (;;) {
      const stored = remembered ?? (await find(postId, userId))
      if (!stored) {
        requests.forEach((_, index) => settle(index, postNotFound()))
        return
      }
      const { post, results, ...logs } = applyInOrder(stored, requests, now())
      // A refusal is valid only for the stored post; a write proves by the revision that nothing has changed.
      const isConclusive = !remembered || (post !== stored && results.every((result) => !(result instanceof Error)))
      const written = isConclusive && (post === stored || (await replace(stored, post, logs, areKnown)))
      if (written === 'taken') return applyOneByOne(postId, requests, settle)
      if (written) {
        if (logs.pendingEvents.length > 0) onPendingEvents(post)
        if (remembered !== undefined || requests.some(({ isKnown }) => isKnown)) remember(post)
        results.forEach((result, index) => settle(index, result instanceof Error ? result : post))
        return
      }
      known.delete(postId)
      remembered = undefined
    }
  }

  /** One of the moves claims a platform post that another post holds: it fails, and the others are applied without it. */
  async function applyOneByOne(...[postId, requests, settle]: Parameters<typeof applyMoves>): Promise<void> {
    if (requests.length === 1) return settle(0, new EffectTaken())
    for (const [index, one] of requests.entries()) {
      await applyMoves(postId, [{ ...one, isKnown: false }], (_, result) => settle(index, result))
    }
  }

  async function replace(
    stored: Post,
    post: Post,
    { timeline, pendingEvents }: Logs,
    areKnown: boolean,
  ): Promise<boolean | 'taken'> {
    const newKeys = (post.publishedKeys ?? []).filter((key) => !stored.publishedKeys?.includes(key))
    // guard: platform post of one post
    if (newKeys.length > 0 && !(await platformPosts.claim(post, newKeys))) return 'taken'
    // Else a start that is acknowledged between the read and the write would clear what an edit sets.
    const seenStart = areKnown ? {} : { startPending: stored.startPending }
    const { matchedCount } = await collection().updateOne(
      // guard: revision
      { _id: stored._id, userId: stored.userId, revision: stored.revision, ...seenStart },
      {
        $set: findChangedFields(stored, post),
        $push: {
          timeline: { $each: timeline, $slice: -TIMELINE_LENGTH },
          // guard: events in the write of their change
          ...(pendingEvents.length > 0 && { pendingEvents: { $each: pendingEvents } }),
        },
      },
    )
    // guard: lost write
    return matchedCount === 1
  }

  return {
    /** Caches the post as this process saw it last. */
    remember,

    /**
     * Applies a pure move to the stored post. It writes the result on condition that the revision is unchanged, else reads
     * again. So of two moves that exclude each other exactly one wins. Concurrent moves of one post in this process share a
     * read and a write.
     * @throws ServiceError NOT_FOUND when the post is deleted, EffectTaken, or the error of the move
     */
    transition: (post: PostRef, move: Move, options: TransitionOptions = {}): Promise<Post> =>
      enqueue(post._id, { post, move, ...options }),
  }
}

/**
 * Applies the moves in order to one post.
 * @returns the resulting post, each move's result, and the events of the timeline and of the feed
 */
function applyInOrder(stored: Post, requests: RequestedMove[], at: Date) {
  const results: (Post | Error)[] = []
  const timeline: TimelineEvent[] = []
  const pendingEvents: NotifiedEvent[] = []
  let post = stored
  for (const { move, notes = [], runId } of requests) {
    try {
      const moved = move(post, at)
      if (moved !== post) {
        const newEvents = [...notes, ...deriveEvents(post, moved, at)]
        timeline.push(...(runId === undefined ? newEvents : newEvents.map((event) => ({ ...event, runId }))))
        const revised = { ...moved, revision: stored.revision + 1, updatedAt: at }
        const events = derivePostEvents(post, revised, at, pendingEvents.length)
        pendingEvents.push(...addNotifications(events, revised))
        post = revised
      }
      results.push(post)
    } catch (error) {
      results.push(error as Error)
    }
  }
  return { post, results, timeline, pendingEvents }
}

const isSameEntry = (one: PlatformStatus, other: PlatformStatus | undefined): boolean =>
  other !== undefined && toTarget(one) === toTarget(other)

/** The fields that a move changed, entry by entry, so that fields of other writers (`lastAnalyticsFetch`) stay untouched. */
function findChangedFields(before: Post, after: Post): Record<string, unknown> {
  const changes: Record<string, unknown> = {}
  const sameEntries =
    before.platformStatuses.length === after.platformStatuses.length &&
    before.platformStatuses.every((entry, index) => isSameEntry(entry, after.platformStatuses[index]))
  for (const name of Object.keys(after) as (keyof Post)[]) {
    if (after[name] === before[name] || (name === 'platformStatuses' && sameEntries)) continue
    changes[name] = after[name]
  }
  if (sameEntries) {
    after.platformStatuses.forEach((entry, index) => {
      const old = before.platformStatuses[index]!
      if (entry === old) return
      for (const name of Object.keys(entry) as (keyof typeof entry)[]) {
        if (entry[name] !== old[name]) changes[`platformStatuses.${index}.${name}`] = entry[name]
      }
    })
  }
  return changes
}
