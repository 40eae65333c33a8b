import { setTimeout as delay } from 'node:timers/promises'
import mongoose, { type Connection } from 'mongoose'
import { SECOND } from '../../domain/shared/times.ts'
import type { Notification } from '../notifications/notifications.ts'
import { isDatabaseOutage } from '../mongo-errors.ts'

type ResumeToken = mongoose.mongo.ResumeToken

/** What is told of the database as it happens; of users and sessions only that they have to be looked at again. */
export type RecordChange =
  | { kind: 'notification'; notification: Notification }
  | { kind: 'user'; userId: string }
  | { kind: 'session'; sessionId: string }

interface ChangeHandlers {
  onChange(change: RecordChange): void
  /** Changes were missed: the database no longer knows the place where it was left. What comes from now on is told again. */
  onGap(): void
  /** The database cannot be followed for the moment; told once for each time. */
  onTrouble(error: unknown): void
}

const FOLLOW_AGAIN_MS = SECOND / 4

interface Event {
  ns: { coll: string }
  documentKey: { _id: string }
  fullDocument?: Notification
}

const of = (collection: string, operations: string[]) => ({
  'ns.coll': collection,
  operationType: { $in: operations },
})
const isTouched = (field: string) => ({ [`updateDescription.updatedFields.${field}`]: { $exists: true } })

const PIPELINE = [
  {
    $match: {
      $or: [
        of('notifications', ['insert']),
        of('users', ['delete', 'replace']),
        { ...of('users', ['update']), $or: ['isDisabled', 'tokenVersion', 'role'].map(isTouched) },
        of('sessions', ['delete']),
      ],
    },
  },
  {
    $project: {
      'ns.coll': 1,
      documentKey: 1,
      // Of users and sessions the secrets stay where they are.
      fullDocument: { $cond: [{ $eq: ['$ns.coll', 'notifications'] }, '$fullDocument', '$$REMOVE'] },
    },
  },
]

/**
 * Tells of changes from now on, over one change stream for all collections. It is taken up again where it was left after an
 * outage or a change of the primary, so that each change is told once.
 */
export function watchChanges(connection: Connection, follower: ChangeHandlers) {
  const closing = new AbortController()
  let place: ResumeToken
  let hasGap = false
  let isTroubled = false
  let watching = Promise.withResolvers<void>()

  /** Told first when the stream is open on the server, before there is anything to tell: from then on nothing is missed. */
  function onPlace(token: ResumeToken): void {
    place = token
    isTroubled = false
    watching.resolve()
    if (hasGap) follower.onGap()
    hasGap = false
  }

  async function read(): Promise<void> {
    if (!connection.db) throw new mongoose.mongo.MongoNotConnectedError('MongoDB is not connected yet')
    const stream = connection.db.watch<never, Event>(PIPELINE, place === undefined ? {} : { startAfter: place })
    const stop = () => void stream.close().catch(() => {})
    closing.signal.addEventListener('abort', stop)
    stream.on('resumeTokenChanged', onPlace)
    try {
      while (!closing.signal.aborted) {
        const event = await stream.tryNext()
        const change = event && changeOf(event)
        if (change) follower.onChange(change)
      }
    } finally {
      closing.signal.removeEventListener('abort', stop)
      stop()
    }
  }

  function onBreak(error: unknown): void {
    watching = Promise.withResolvers()
    if (place !== undefined && isRefused(error)) {
      place = undefined
      hasGap = true
    }
    if (!isTroubled) follower.onTrouble(error)
    isTroubled = true
  }

  async function follow(): Promise<void> {
    while (!closing.signal.aborted) {
      try {
        await read()
      } catch (error) {
        if (closing.signal.aborted) return
        onBreak(error)
      }
      await delay(FOLLOW_AGAIN_MS, undefined, { signal: closing.signal }).catch(() => {})
    }
  }

  void follow()
  return {
    /** Resolves when whatever changes from then on will be told. */
    following: (): Promise<void> => watching.promise,

    close: (): void => closing.abort(),
  }
}

export type ChangeFeed = ReturnType<typeof watchChanges>

/** The server answers, and says that it cannot go on from there. */
function isRefused(error: unknown): boolean {
  return error instanceof mongoose.mongo.MongoServerError && !isDatabaseOutage(error)
}

function changeOf({ ns, documentKey, fullDocument }: Event): RecordChange | null {
  switch (ns.coll) {
    case 'notifications':
      return fullDocument ? { kind: 'notification', notification: fullDocument } : null
    case 'users':
      return { kind: 'user', userId: documentKey._id }
    case 'sessions':
      return { kind: 'session', sessionId: documentKey._id }
    default:
      return null
  }
}
