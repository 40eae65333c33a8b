import type { Clock } from '../../clock.ts'
import { explainFailure, failure, type Failure } from '../../domain/posts/failure.ts'
import { postEnded, postFailed, postPublished } from '../../domain/notifications/notifications.ts'
import { accept, defer, EffectTaken, markUnknown, refuse } from '../../domain/posts/delivery-moves.ts'
import type { Platform } from '../../domain/shared/platforms.ts'
import { findOpenEntry, findEntry, toFailure } from '../../domain/posts/post-entries.ts'
import type { AttemptRef, Move, Post, Published } from '../../domain/posts/post.ts'
import { ServiceError } from '../../domain/shared/service-error.ts'
import type { TimelineEvent } from '../../domain/posts/timeline.ts'
import type { Metrics } from '../../telemetry/metrics.ts'
import type { NotificationStore } from '../../store/notifications/notifications.ts'
import type { PostStore } from '../../store/posts/posts.ts'
import type { DeliveryInput, DeliveryResult } from '../../workflows/messages.ts'

interface OutcomeDeps {
  posts: PostStore
  notifications: NotificationStore
  clock: Clock
  metrics: Pick<Metrics, 'deliveryRecorded'>
}

/** What an attempt has to tell with its moves. */
export interface Telling {
  runId: string
  /** Waits and looks since the last move: they are stored with the next one. */
  untold: TimelineEvent[]
  /** Writes an event to the log, with the delivery that it belongs to. */
  log(message: string, fields: object): void
}

const UNKNOWN_FAILURE = failure('INTERNAL', 'Unknown')

/** The post was deleted; nothing outranks that. */
export const GONE: DeliveryResult = { outcome: 'void', status: 'DELETED', revision: Number.MAX_SAFE_INTEGER }

/** Thrown when the attempt has to be made again, after a while that is known. */
export class TryAgainIn extends Error {
  readonly waitMs: number
  constructor(waitMs: number, why: string) {
    super(why)
    this.name = 'TryAgainIn'
    this.waitMs = Math.max(1, Math.ceil(waitMs))
  }
}

/** Records what an attempt came to, and tells the user once. Whatever is returned ends the attempt; null asks for a fresh look. */
export function createOutcomes({ posts, notifications, clock, metrics }: OutcomeDeps) {
  async function change(postId: string, move: Move, { runId, untold }: Telling): Promise<Post> {
    const notes = [...untold]
    const left = await posts.transition(postId, move, { runId, notes, isKnown: true })
    untold.splice(0, notes.length)
    return left
  }

  async function accepted(
    post: Post,
    input: DeliveryInput,
    from: AttemptRef,
    published: Published,
    io: Telling,
  ): Promise<DeliveryResult> {
    const { platformPostId, platformPostUrl } = published
    let left: Post | null
    try {
      left = await unlessGone(change(post._id, accept(input.platform, { platformPostId, platformPostUrl }), io))
    } catch (error) {
      if (!(error instanceof EffectTaken)) throw error
      // Two posts alike, both in doubt, and the other was first: this one's own effect has yet to be found.
      const reason = failure('OUTCOME_UNKNOWN', 'What the platform published is on record as another post')
      return unknown(post, input, from, { reason }, io)
    }
    metrics.deliveryRecorded(input.platform, 'accepted')
    // A post that was deleted meanwhile is out all the same: its owner has to know.
    await notifications.insertOnce(postPublished(left ?? post, input.platform, platformPostUrl))
    if (left) await notifyPostEnd(left)
    return left ? resultOf(left, input.platform, 'completed') : GONE
  }

  /** Never before the instant: until then the user may still cancel, or mend what stands in the way. */
  async function refused(
    post: Post,
    input: DeliveryInput,
    from: AttemptRef,
    reason: Failure,
    io: Telling & { signal: AbortSignal },
  ): Promise<DeliveryResult | null> {
    if (post.dueAt && post.dueAt > clock.now()) {
      await clock.sleepUntil(post.dueAt, io.signal)
      return null
    }
    const left = await change(post._id, refuse(input.platform, reason, from), io)
    // Still open: another attempt took the entry meanwhile, and this one has no say in it.
    if (findOpenEntry(left, input.platform, input.round)) return null
    count(left, input, 'failed')
    logFailure('delivery failed', reason, from, io)
    return ended(left, input)
  }

  async function deferred(
    post: Post,
    input: DeliveryInput,
    from: AttemptRef,
    reason: Failure,
    wait: { waitMs: number; countsAsTry: boolean },
    io: Telling,
  ): Promise<DeliveryResult> {
    const at = new Date(clock.now().getTime() + wait.waitMs)
    const move = defer(input.platform, reason, from, { at, countsAsTry: wait.countsAsTry })
    const left = await change(post._id, move, io)
    logFailure('delivery deferred', reason, from, io)
    return stillOpen(left, input, 'deferred', reason)
  }

  async function unknown(
    post: Post,
    input: DeliveryInput,
    from: AttemptRef,
    { reason, answered }: { reason: Failure; answered?: boolean },
    io: Telling,
  ): Promise<DeliveryResult> {
    const left = await change(post._id, markUnknown(input.platform, reason, from, answered), io)
    logFailure('delivery outcome unknown', reason, from, io)
    return stillOpen(left, input, 'unknown', reason)
  }

  /** Ends the attempt of an entry that stays open by asking for the next one; one that ended is told to the user. */
  async function stillOpen(
    left: Post,
    input: DeliveryInput,
    outcome: 'deferred' | 'unknown',
    reason: Failure,
  ): Promise<DeliveryResult> {
    const entry = findOpenEntry(left, input.platform, input.round)
    count(left, input, outcome)
    if (!entry) return ended(left, input)
    const waitMs = (entry.delivery.nextAttemptAt?.getTime() ?? 0) - clock.now().getTime()
    throw new TryAgainIn(waitMs, explainFailure(reason, input.platform))
  }

  function count(left: Post, { platform, round }: DeliveryInput, outcome: 'failed' | 'deferred' | 'unknown'): void {
    const entry = findEntry(left, platform)
    if (entry?.status === 'failed') metrics.deliveryRecorded(platform, 'failed', entry.errorCode)
    else if (findOpenEntry(left, platform, round)) metrics.deliveryRecorded(platform, outcome)
  }

  /** The entry is no longer open: the notification may be missing when an earlier attempt died before it. */
  async function ended(post: Post, input: DeliveryInput): Promise<DeliveryResult> {
    await notifyEnd(post, input)
    return resultOf(post, input.platform, endOf(post, input))
  }

  async function notifyEnd(post: Post, { platform, round }: DeliveryInput): Promise<void> {
    const entry = findEntry(post, platform)
    if (!entry || entry.delivery.round !== round) return
    if (entry.status === 'completed' && entry.platformPostUrl) {
      await notifications.insertOnce(postPublished(post, platform, entry.platformPostUrl))
    }
    if (entry.status === 'failed') {
      await notifications.insertOnce(postFailed(post, platform, round, toFailure(entry) ?? UNKNOWN_FAILURE))
    }
    await notifyPostEnd(post)
  }

  /** Whichever delivery ends last finds that the post has ended. */
  async function notifyPostEnd(post: Post): Promise<void> {
    const notification = postEnded(post)
    if (notification) await notifications.insertOnce(notification)
  }

  async function again(input: DeliveryInput): Promise<DeliveryResult> {
    const post = await posts.find(input.postId)
    return post ? resultOf(post, input.platform, 'again') : GONE
  }

  return { change, accepted, refused, deferred, unknown, ended, again }
}

export type Outcomes = ReturnType<typeof createOutcomes>

/** The result that a workflow gets of one platform's delivery, with the reason of a failed one. */
export function resultOf(post: Post, platform: Platform, outcome: DeliveryResult['outcome']): DeliveryResult {
  const entry = findEntry(post, platform)
  const reason = entry && toFailure(entry)
  return {
    outcome,
    status: post.status,
    revision: post.revision,
    ...(outcome === 'failed' &&
      reason && { failure: { code: reason.code, message: explainFailure(reason, platform) } }),
  }
}

function endOf(post: Post, { platform }: DeliveryInput): DeliveryResult['outcome'] {
  const status = findEntry(post, platform)?.status
  return status === 'completed' || status === 'failed' ? status : 'void'
}

function logFailure(
  message: string,
  { code, platformReason }: Failure,
  { attempt }: AttemptRef,
  { log }: Telling,
): void {
  log(message, { errorCode: code, attempt, platformCode: platformReason?.code, platformText: platformReason?.text })
}

async function unlessGone(changing: Promise<Post>): Promise<Post | null> {
  try {
    return await changing
  } catch (error) {
    if (isGone(error)) return null
    throw error
  }
}

/** The post was deleted meanwhile. */
export function isGone(error: unknown): boolean {
  return error instanceof ServiceError && error.code === 'NOT_FOUND'
}
