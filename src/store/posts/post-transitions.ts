import { EffectTaken } from '../../domain/posts/delivery-moves.ts'
import type { Move, Post } from '../../domain/posts/post.ts'
import { ServiceError } from '../../domain/shared/service-error.ts'
import { deriveEvents, TIMELINE_LENGTH, type TimelineEvent } from '../../domain/posts/timeline.ts'
import { isDuplicateKey } from '../shared/database.ts'
import type { driverCollection } from '../shared/native-collection.ts'
import { createLine } from '../shared/batching.ts'
import type { StoredPost } from './post-schema.ts'

/** What goes with a move besides the move itself. */
interface TransitionOptions {
  /** The workflow run on whose behalf it is made; goes into the timeline. */
  runId?: string
  /** What happened since the last move and has not been told yet. */
  notes?: TimelineEvent[]
  /**
   * The post is likely to be as this process last saw it, so the first try goes without reading it. Not for moves that look
   * at `startPending`, which changes without the revision.
   */
  isKnown?: boolean
}

type Asked = { move: Move } & TransitionOptions

/** Posts on their way through this process, the latest state it saw of each. */
const KNOWN_POSTS = 2_000

interface TransitionDeps {
  collection: ReturnType<typeof driverCollection<StoredPost>>
  /** Reads a post; what it read may be told to `remember`. */
  find(postId: string): Promise<Post | null>
  now(): Date
}

/** The only way to change a stored post. */
export function createTransitions({ collection, find, now }: TransitionDeps) {
  const inLine = createLine<Post, Asked>(applyMoves)
  const known = new Map<string, Post>()

  function remember(post: Post): void {
    const { revision = -1 } = known.get(post._id) ?? {}
    if (post.revision < revision) return
    known.delete(post._id)
    known.set(post._id, post)
    if (known.size > KNOWN_POSTS) known.delete(known.keys().next().value!)
  }

  /** At most one read and one conditional write for all moves that met; each gets its own post or its own error. */
  async function applyMoves(postId: string, asked: Asked[], settle: (index: number, result: Post | Error) => void) {
    let remembered = asked.every(({ isKnown }) => isKnown) ? known.get(postId) : undefined
    for (;;) {
      const stored = remembered ?? (await find(postId))
      if (!stored) {
        asked.forEach((_, index) => settle(index, new ServiceError('NOT_FOUND', 'Post not found or unauthorized')))
        return
      }
      const { post, results, events } = afterMoves(stored, asked, now())
      // A refusal holds only of the post as it is now; a write proves by the revision that nothing changed meanwhile.
      const isConclusive = !remembered || (post !== stored && results.every((result) => !(result instanceof Error)))
      const written = isConclusive && (post === stored || (await replace(stored, post, events)))
      if (written === 'taken') return applyOneByOne(postId, asked, settle)
      if (written) {
        if (remembered !== undefined || asked.some(({ isKnown }) => isKnown)) remember(post)
        results.forEach((result, index) => settle(index, result instanceof Error ? result : post))
        return
      }
      known.delete(postId)
      remembered = undefined
    }
  }

  /** One of the moves takes what another post holds: it fails, and the others are made without it. */
  async function applyOneByOne(...[postId, asked, settle]: Parameters<typeof applyMoves>): Promise<void> {
    if (asked.length === 1) return settle(0, new EffectTaken())
    for (const [index, one] of asked.entries()) {
      await applyMoves(postId, [{ ...one, isKnown: false }], (_, result) => settle(index, result))
    }
  }

  async function replace(stored: Post, post: Post, events: TimelineEvent[]): Promise<boolean | 'taken'> {
    try {
      const { matchedCount } = await collection().updateOne(
        // guard: revision
        { _id: stored._id, revision: stored.revision },
        {
          $set: difference(stored, post),
          $push: { timeline: { $each: events, $slice: -TIMELINE_LENGTH } },
        },
      )
      // guard: lost write
      return matchedCount === 1
    } catch (error) {
      if (isDuplicateKey(error)) return 'taken'
      throw error
    }
  }

  return {
    /** Notes the post as this process saw it last. */
    remember,

    /**
     * Applies a pure move to the stored post: reads it, and writes the result under the condition that its revision is
     * still the one read, else reads again. So of two moves that exclude each other exactly one wins, whoever asks.
     * Moves of one post that meet in this process share a read and a write.
     * @throws ServiceError NOT_FOUND when the post is gone, EffectTaken, and whatever the move throws
     */
    transition: (postId: string, move: Move, options: TransitionOptions = {}): Promise<Post> =>
      inLine(postId, { move, ...options }),
  }
}

/** The moves one after the other on one post: the post they leave, each one's result, and what is to be told of it. */
function afterMoves(stored: Post, asked: Asked[], at: Date) {
  const results: (Post | Error)[] = []
  const events: TimelineEvent[] = []
  let post = stored
  for (const { move, notes = [], runId } of asked) {
    try {
      const moved = move(post, at)
      if (moved !== post) {
        const told = [...notes, ...deriveEvents(post, moved, at)]
        events.push(...(runId === undefined ? told : told.map((event) => ({ ...event, runId }))))
        post = { ...moved, revision: stored.revision + 1, updatedAt: at }
      }
      results.push(post)
    } catch (error) {
      results.push(error as Error)
    }
  }
  return { post, results, events }
}

/** The fields a move changed, entry by entry, so that what other writers own (`lastAnalyticsFetch`) is left alone. */
function difference(before: Post, after: Post): Record<string, unknown> {
  const changes: Record<string, unknown> = {}
  const sameEntries =
    before.platformStatuses.length === after.platformStatuses.length &&
    before.platformStatuses.every((entry, index) => entry.platform === after.platformStatuses[index]?.platform)
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
