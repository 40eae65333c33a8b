import type { AttemptRef, PlatformStatus, Post, Published } from '../../domain/posts/post.ts'
import type { TimelineEvent } from '../../domain/posts/timeline.ts'
import type { DeliveryInput, DeliveryResult } from '../../workflows/contract/publishing.ts'

/** The parts of an activity that the preparation of a delivery uses. */
export interface PrepareDeliveryIo {
  /** Aborts waits and invisible work, but never the visible call. */
  signal: AbortSignal
  /** Logs an error of this service; users never see it. */
  report(event: string, error: unknown): void
  /** Set for the attempt that probes a server which could not be reached. */
  isAdmitted?: boolean
}

/** The parts of an activity that an attempt to publish uses. */
export interface ActivityIo extends PrepareDeliveryIo {
  /** The accepted result that an earlier, lost attempt left in its heartbeat; null when there is none. */
  remembered: (AttemptRef & Published) | null
  /** Lets the attempt heartbeat rarely while it waits until an instant. */
  waitUntil(instant: Date): void
  /** Stores an accepted result outside the database. */
  remember(result: AttemptRef & Published): void
  /** The workflow run, for the timeline. */
  runId: string
  /** Logs an event with the ids of the delivery. */
  log(event: string, fields: object): void
}

/** The activity that publishes, with what it carries from one attempt to the next. */
export interface DeliveryActivity extends ActivityIo {
  /** Timeline events since the last move. The next move stores them. */
  pendingEvents: TimelineEvent[]
  /** A refused login is renewed once. When it is refused again, the account counts as expired. */
  hasRenewed: boolean
  /** Frees the slot of an attempt that began before its post was due; null for others. */
  freeSlot: (() => void) | null
}

/** The open entry of one platform, as it was read with its post. */
export interface DeliveryTarget<Io extends PrepareDeliveryIo = PrepareDeliveryIo> {
  input: DeliveryInput
  post: Post
  entry: PlatformStatus
  activity: Io
}

/** One attempt to publish one platform of a post. */
export interface Attempt extends DeliveryTarget<DeliveryActivity> {
  /** The round, the part and the number of the last claim. A move for an older claim changes nothing. */
  ref: AttemptRef
}

/** How an attempt ended. */
export type AttemptResult =
  /** The delivery is completed or failed. */
  | { kind: 'done'; result: DeliveryResult }
  /** The post was moved, cancelled, edited or deleted: the workflow has to read it again, or nothing is left to do. */
  | { kind: 'superseded'; result: DeliveryResult }
  | { kind: 'retryIn'; waitMs: number; why: string }
  /** The post changed: read it again and make another attempt. */
  | { kind: 'reload' }
  /** A part is published, and the next one is due. */
  | { kind: 'nextPart' }

export const RELOAD: AttemptResult = { kind: 'reload' }
export const NEXT_PART: AttemptResult = { kind: 'nextPart' }

/** A deleted post has the highest revision: no other result outranks it. */
export const POST_DELETED: AttemptResult = {
  kind: 'superseded',
  result: { outcome: 'nothing-to-do', status: 'DELETED', revision: Number.MAX_SAFE_INTEGER },
}

/** Rounds the wait up to whole milliseconds, at least one, as Temporal requires. */
export function retryIn(waitMs: number, why: string): AttemptResult & { kind: 'retryIn' } {
  return { kind: 'retryIn', waitMs: Math.max(1, Math.ceil(waitMs)), why }
}
