import { Schema, type Connection } from 'mongoose'
import {
  COUNTING_SHARE,
  LONE_USER_SHARE,
  USER_SHARE,
  type CallGrant,
  type CallLimit,
  type CallRequest,
  type CallWindows,
} from '../../domain/quotas/limits.ts'
import { DAY } from '../../domain/shared/times.ts'
import { isDuplicateKey } from '../mongo-errors.ts'
import { anyOf, batchLoader, keyedBatcher } from '../shared/batching.ts'
import { nativeCollection } from '../shared/native-collection.ts'
import { required, schemaOptions } from '../shared/schema.ts'

export type Expression = string | number | boolean | null | Date | Expression[] | { [operator: string]: Expression }

const COLLECTION = 'quotas'
/** Each call may add two stages to a pipeline, which has a thousand at most. */
const LARGEST_BATCH = 100
/** No limit of a platform has a longer window, whatever a server states. */
const LONGEST_PAUSE_MS = DAY

interface StoredWindow {
  index: number
  limit: number
  used: number
  /** The calls of users, which leave out those of no user. */
  byUsers: number
  users: Record<string, number>
}

interface StoredQuota {
  /** The key of the subject. It is unique on every shard, and reveals no account. */
  _id: string
  pausedUntil?: Date
  /** When the server worked again after an outage. */
  returnedAt?: Date
  /** The calls in the current windows, by span. `index` is the number of windows since 1970. */
  windows: Record<string, StoredWindow>
  /** The time of the database at the last command. */
  at: Date
  /** The calls that the last command counted, and how many each limit left, by group. */
  grants: { tokens: number; free: number[] }[]
  removeAt: Date
}

const quotaSchema = new Schema(
  {
    _id: required(String),
    pausedUntil: Date,
    returnedAt: Date,
    windows: Object,
    at: Date,
    grants: [Object],
    removeAt: required(Date),
  },
  schemaOptions,
)
quotaSchema.index({ removeAt: 1 }, { expireAfterSeconds: 0 })

interface Options {
  /** Returns the expression for the current time. By default the clock of the database counts, not that of a worker. */
  now?: () => Expression
}

/**
 * Counts calls in windows that are aligned to the Unix epoch (ADR "All processes count calls in the same fixed windows"). The calls
 * of a subject that meet in a process share a command.
 */
export function createCallWindows(connection: Connection, { now = () => '$$NOW' }: Options = {}): CallWindows {
  connection.model('Quota', quotaSchema, COLLECTION)
  const quotas = nativeCollection<StoredQuota>(connection, COLLECTION)

  const take = keyedBatcher<CallGrant, CallRequest>(async (key, requests, settle) => {
    const groups = groupRequests(requests.map((request, index) => ({ ...request, index })))
    const areShared = new Set(requests.map(({ user }) => user)).size > 1
    const update = [openWindows(requests, now()), ...groups.flatMap((group) => countCalls(group, areShared))]
    const projection = Object.fromEntries(requests[0]!.limits.map(({ span }) => [`windows.${span}.users`, 0]))
    const options = { upsert: true, returnDocument: 'after', projection } as const
    const record = (await quotas().findOneAndUpdate({ _id: key }, update, options))!
    groups.forEach((group, index) => {
      const { tokens, free } = record.grants[index]!
      const result = toResult(record, group[0]!.limits, (_, span) => free[span]! <= tokens)
      group.forEach((request, place) => {
        const spare = place === 0 ? Math.max(0, tokens - group.length) : 0
        settle(request.index, { ...result, isGranted: place < tokens, spare })
      })
    })
  }, LARGEST_BATCH)

  const load = batchLoader(
    (keys: string[]) => {
      const projection = { pausedUntil: 1, at: now() }
      return quotas()
        .find({ _id: anyOf(keys) }, { projection })
        .toArray()
    },
    ({ _id }) => _id,
  )

  const toServerKey = (server: string) => `server:${server}`

  const loadReturn = batchLoader(
    (keys: string[]) =>
      quotas()
        .find({ _id: anyOf(keys) }, { projection: { returnedAt: 1 } })
        .toArray(),
    ({ _id }) => _id,
  )

  return {
    take,
    readPauseMs: async (key) => toPauseMs(await load(key)),
    async pause(key, ms) {
      const until: Expression = { $add: [now(), Math.min(ms, LONGEST_PAUSE_MS)] }
      const fields = { pausedUntil: { $max: ['$pausedUntil', until] }, removeAt: { $max: ['$removeAt', until] } }
      await quotas().updateOne({ _id: key }, [{ $set: fields }], { upsert: true })
    },
    readReturn: async (server) => (await loadReturn(toServerKey(server)))?.returnedAt ?? null,
    async saveReturn(server, since, at) {
      const $set = { returnedAt: at, removeAt: new Date(at.getTime() + LONGEST_PAUSE_MS) }
      const earlier = { _id: toServerKey(server), returnedAt: { $lte: since } }
      try {
        await quotas().updateOne(earlier, { $set }, { upsert: true })
        return true
      } catch (error) {
        if (isDuplicateKey(error)) return false
        throw error
      }
    },
  }
}

/** Groups requests by purpose and user. Publishing comes first. */
function groupRequests<T extends CallRequest>(requests: readonly T[]): T[][] {
  const groups = Map.groupBy(requests, ({ purpose, user }) => `${purpose} ${user ?? ''}`)
  return [...groups.values()].toSorted(([one], [other]) => other!.purpose.localeCompare(one!.purpose))
}

function toPauseMs(record: Pick<StoredQuota, 'pausedUntil' | 'at'> | null): number {
  return record?.pausedUntil ? Math.max(0, record.pausedUntil.getTime() - record.at.getTime()) : 0
}

function toResult(
  record: StoredQuota,
  limits: readonly CallLimit[],
  isUsedUp: (limit: CallLimit, index: number) => boolean,
) {
  const pauseMs = toPauseMs(record)
  const waits = limits.filter(isUsedUp).map(({ windowMs }) => windowMs - (record.at.getTime() % windowMs))
  const left = Object.entries(record.windows).map(([span, { used, limit }]) => [span, Math.max(0, 1 - used / limit)])
  return { pauseMs, waitMs: Math.max(pauseMs, ...waits), left: Object.fromEntries(left) as CallGrant['left'] }
}

/** Returns the stage that begins windows whose index is new. */
function openWindows(requests: readonly CallRequest[], now: Expression) {
  const { limits } = requests[0]!
  const { stated } = requests.at(-1)!
  const windows = limits.map(({ span, limit, windowMs }) => {
    const path = `$windows.${span}`
    const index: Expression = { $floor: { $divide: [{ $toLong: now }, windowMs] } }
    const current: Expression = {
      $cond: [{ $eq: [`${path}.index`, index] }, path, { index, used: 0, byUsers: 0, users: {} }],
    }
    return [
      `windows.${span}`,
      { $mergeObjects: [current, { limit: stated[span] ?? { $ifNull: [`${path}.limit`, limit] } }] },
    ]
  })
  const removeAt = { $max: ['$removeAt', { $add: [now, Math.max(...limits.map(({ windowMs }) => windowMs))] }] }
  return { $set: { ...Object.fromEntries(windows), at: now, grants: [], removeAt } }
}

/**
 * Returns the stages that count as many calls of a group as its limits and its user's share leave.
 * @param areShared true when other users wait in the same command, which may not have counted a call yet
 */
function countCalls(group: readonly CallRequest[], areShared: boolean) {
  const { limits, purpose, user, block } = group[0]!
  const counters = limits.map(({ span }) => {
    const window = `windows.${span}`
    const [limit, used, byUsers, mine] = [
      `$${window}.limit`,
      ...['used', 'byUsers', `users.${user}`].map((count): Expression => ({ $ifNull: [`$${window}.${count}`, 0] })),
    ] as [Expression, Expression, Expression, Expression]
    const leave = (share: number): Expression => ({ $subtract: [{ $floor: { $multiply: [limit, share] } }, used] })
    const others: Expression = { $subtract: [byUsers, mine] }
    const isLone: Expression = areShared ? false : { $eq: [others, 0] }
    const share: Expression = { $cond: [isLone, LONE_USER_SHARE, USER_SHARE] }
    // Rounded up, so that the last call of a limit is granted to anyone.
    const most: Expression = { $ceil: { $multiply: [{ $subtract: [limit, others] }, share] } }
    const ofAll = leave(purpose === 'counting' ? COUNTING_SHARE : 1)
    return {
      // Calls that may be lost are counted ahead only where nothing is reserved, so that a busy window has its whole limit.
      ahead: leave(COUNTING_SHARE),
      free: user === null ? ofAll : { $min: [ofAll, { $subtract: [most, mine] }] },
      counts: [`${window}.used`, ...(user === null ? [] : [`${window}.byUsers`, `${window}.users.${user}`])],
    }
  })
  const free = counters.map((counter) => counter.free)
  const wanted: Expression = { $max: [group.length, { $min: [block, ...counters.map(({ ahead }) => ahead)] }] }
  const unlessPaused: Expression = { $cond: [{ $gt: ['$pausedUntil', '$at'] }, 0, wanted] }
  const grant: Expression = { tokens: { $max: [0, { $min: [unlessPaused, ...free] }] }, free }
  const added = counters.flatMap(({ counts }) =>
    counts.map((count) => [count, { $add: [{ $ifNull: [`$${count}`, 0] }, { $last: '$grants.tokens' }] }]),
  )
  return [{ $set: { grants: { $concatArrays: ['$grants', [grant]] } } }, { $set: Object.fromEntries(added) }]
}
