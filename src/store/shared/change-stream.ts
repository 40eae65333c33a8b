import { setTimeout as delay } from 'node:timers/promises'
import mongoose, { type Connection } from 'mongoose'
import { SECOND } from '../../domain/shared/times.ts'
import type { Notification } from '../notifications/notifications.ts'
import { isDatabaseOutage } from '../mongo-errors.ts'

type ResumeToken = mongoose.mongo.ResumeToken

/** A change in the database. All but notifications carry only an id. */
export type RecordChange =
  | { kind: 'notification'; notification: Notification }
  | { kind: 'user'; userId: string }
  | { kind: 'session'; sessionId: string }
  | { kind: 'apiKey'; keyHash: string }
  /** The feed of a user has a new event. */
  | { kind: 'event'; userId: string }

interface ChangeHandlers {
  onChange(change: RecordChange): void
  /** Called when changes were missed, because the database no longer has the resume token. Later changes are reported again. */
  onGap(): void
  /** Called once for each interruption of the change stream. */
  onInterrupted(error: unknown): void
}

const REOPEN_AFTER_MS = SECOND / 4

interface Event {
  ns: { coll: string }
  documentKey: { _id: string }
  fullDocument?: Notification
  /** The owner of an event. */
  userId?: string
}

const matchOperations = (collection: string, operations: string[]) => ({
  'ns.coll': collection,
  operationType: { $in: operations },
})
const matchUpdateOf = (field: string) => ({ [`updateDescription.updatedFields.${field}`]: { $exists: true } })

const PIPELINE = [
  {
    $match: {
      $or: [
        { ...matchOperations('notifications', ['insert']), 'fullDocument.isListed': true },
        matchOperations('users', ['delete', 'replace']),
        { ...matchOperations('users', ['update']), $or: ['isDisabled', 'tokenVersion', 'role'].map(matchUpdateOf) },
        matchOperations('sessions', ['delete']),
        matchOperations('apiKeys', ['delete']),
        matchOperations('events', ['insert']),
      ],
    },
  },
  {
    $project: {
      'ns.coll': 1,
      documentKey: 1,
      // Leaves out the secrets of users and sessions.
      fullDocument: { $cond: [{ $eq: ['$ns.coll', 'notifications'] }, '$fullDocument', '$$REMOVE'] },
      userId: { $cond: [{ $eq: ['$ns.coll', 'events'] }, '$fullDocument.userId', '$$REMOVE'] },
    },
  },
]

/**
 * Reports changes from now on over one change stream for all collections. After an outage or a new primary it resumes where it
 * stopped, so each change is reported once.
 */
export function watchChanges(connection: Connection, handlers: ChangeHandlers) {
  const closing = new AbortController()
  let resumeToken: ResumeToken
  let hasGap = false
  let isInterrupted = false
  let watching = Promise.withResolvers<void>()

  /** First called when the stream is open on the server, before any change. From then on no change is missed. */
  function onResumeToken(token: ResumeToken): void {
    resumeToken = token
    isInterrupted = false
    watching.resolve()
    if (hasGap) handlers.onGap()
    hasGap = false
  }

  async function read(): Promise<void> {
    if (!connection.db) throw new mongoose.mongo.MongoNotConnectedError('MongoDB is not connected yet')
    const stream = connection.db.watch<never, Event>(
      PIPELINE,
      resumeToken === undefined ? {} : { startAfter: resumeToken },
    )
    const stop = () => void stream.close().catch(() => {})
    closing.signal.addEventListener('abort', stop)
    stream.on('resumeTokenChanged', onResumeToken)
    try {
      while (!closing.signal.aborted) {
        const event = await stream.tryNext()
        const change = event && toRecordChange(event)
        if (change) handlers.onChange(change)
      }
    } finally {
      closing.signal.removeEventListener('abort', stop)
      stop()
    }
  }

  function onBreak(error: unknown): void {
    watching = Promise.withResolvers()
    if (resumeToken !== undefined && isRefused(error)) {
      resumeToken = undefined
      hasGap = true
    }
    if (!isInterrupted) handlers.onInterrupted(error)
    isInterrupted = true
  }

  async function readForever(): Promise<void> {
    while (!closing.signal.aborted) {
      try {
        await read()
      } catch (error) {
        if (closing.signal.aborted) return
        onBreak(error)
      }
      await delay(REOPEN_AFTER_MS, undefined, { signal: closing.signal }).catch(() => {})
    }
  }

  void readForever()
  return {
    /** Resolves when the stream is open and later changes will be reported. */
    opened: (): Promise<void> => watching.promise,

    close: (): void => closing.abort(),
  }
}

export type ChangeFeed = ReturnType<typeof watchChanges>

/** Returns whether the server refused to resume, as opposed to being unreachable. */
function isRefused(error: unknown): boolean {
  return error instanceof mongoose.mongo.MongoServerError && !isDatabaseOutage(error)
}

function toRecordChange({ ns, documentKey, fullDocument, userId }: Event): RecordChange | null {
  switch (ns.coll) {
    case 'notifications':
      return fullDocument ? { kind: 'notification', notification: fullDocument } : null
    case 'users':
      return { kind: 'user', userId: documentKey._id }
    case 'sessions':
      return { kind: 'session', sessionId: documentKey._id }
    case 'apiKeys':
      return { kind: 'apiKey', keyHash: documentKey._id }
    case 'events':
      return userId === undefined ? null : { kind: 'event', userId }
    default:
      return null
  }
}
