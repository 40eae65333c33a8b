import { ENGAGEMENTS, type Ranking, type Window } from '../../domain/analytics/analytics.ts'
import { LONGEST_SNAPSHOT_MS } from '../../domain/analytics/snapshots.ts'
import type { CalendarDay } from '../../domain/analytics/calendar.ts'
import type { Platform } from '../../domain/shared/platforms.ts'
import { shortenLargePosts } from '../posts/shorten-posts.ts'
import { ACCOUNT_SNAPSHOTS, POST_SNAPSHOTS } from './collections.ts'

/** An aggregation: its collection and its stages. */
export interface Aggregation {
  collection: string
  stages: Record<string, unknown>[]
}

/** The user, the platform and the accounts of the snapshots; null means all. */
export interface Scope {
  userId: string
  platform: Platform | null
  accounts?: { accountId: string; platform: Platform; platformId: string }[] | null
}

type Fields = Record<string, unknown>

const PAIR = { postId: '$postId', platform: '$platform', target: '$target' }
const PAIR_OF_ID = { postId: '$_id.postId', platform: '$_id.platform', target: '$_id.target' }
const COUNTED = { platform: '$platform', accountId: '$accountId' }
const COUNTED_OF_ID = { platform: '$_id.platform', accountId: '$_id.accountId' }
const LAST_DIGIT_OF_ID = 23
const COMPLETED = { completedAt: { $max: '$completedAt' }, accountId: { $max: '$accountId' } }
const ACCOUNT = { accountId: '$accountId' }

/** The fields that are summed, and the fields that are shown. */
export const SUMMED = ['totalEngagement', 'engagementRate', 'impressions', 'reach'] as const
const SHOWN = [
  'likes',
  'shares',
  'comments',
  'impressions',
  'reach',
  'saved',
  'totalEngagement',
  'engagementRate',
  'virality',
] as const

/** The latest snapshot in the window of every pair of post and platform. */
export function latestPairs(scope: Scope, window: Window): Aggregation {
  return {
    collection: POST_SNAPSHOTS,
    stages: [
      ...matchSeenIn(scope, window),
      { $group: { _id: PAIR, ...COMPLETED, latest: selectNewest(SUMMED) } },
      { $project: { _id: 0, ...PAIR_OF_ID, ...ACCOUNT, completedAt: 1, ...pickFields('latest', SUMMED) } },
    ],
  }
}

/** The best pairs with their posts. Unknown values come last; among equal ones the latest publication comes first. */
export function topPairs(scope: Scope, window: Window, sortBy: Ranking, limit: number): Aggregation {
  return {
    collection: POST_SNAPSHOTS,
    stages: [
      ...matchSeenIn(scope, window),
      { $group: { _id: PAIR, ...COMPLETED, latest: selectNewest(['lastSeenAt', ...SHOWN]) } },
      { $sort: { [`latest.${sortBy}`]: -1, completedAt: -1, '_id.postId': -1, '_id.platform': 1, '_id.target': 1 } },
      { $limit: limit },
      {
        $lookup: {
          from: 'posts',
          localField: '_id.postId',
          foreignField: '_id',
          pipeline: [{ $match: { userId: scope.userId } }, ...shortenLargePosts(limit)],
          as: 'post',
        },
      },
      { $unwind: '$post' },
      {
        $project: {
          _id: 0,
          ...PAIR_OF_ID,
          ...ACCOUNT,
          post: 1,
          ...pickFields('latest', ['takenAt', 'lastSeenAt', ...SHOWN]),
        },
      },
    ],
  }
}

/** The last known values of every pair before the window and on each of its days, and the number of completions per day. */
export function timelinePairs(scope: Scope, window: Window, days: CalendarDay[]): Aggregation {
  return {
    collection: POST_SNAPSHOTS,
    stages: [
      matchTakenIn(scope, window),
      groupLastSnapshots({ day: findDayIndex(days, '$takenAt') }, ENGAGEMENTS),
      { $group: { _id: { ...PAIR_OF_ID, day: '$_id.day' }, ...COMPLETED, ...selectLastKnown('known') } },
      {
        $group: { _id: PAIR_OF_ID, ...COMPLETED, days: { $push: { day: '$_id.day', ...pickKnownValues('known') } } },
      },
      ...addKnownBefore(scope, window.start, { days: '$days' }),
      { $unionWith: { coll: 'posts', pipeline: countCompletions(scope, window, days) } },
    ],
  }
}

/** Counts completed deliveries from the posts: snapshots come later, and not from every platform. */
function countCompletions(scope: Scope, window: Window, days: CalendarDay[]): Fields[] {
  return [
    matchPublishedIn(scope, window),
    { $unwind: '$platformStatuses' },
    { $match: selectEntries(scope, window, 'platformStatuses.') },
    { $group: { _id: findDayIndex(days, '$platformStatuses.completedAt'), completed: { $sum: 1 } } },
    { $project: { _id: 0, day: '$_id', completed: 1 } },
  ]
}

/** Selects posts with a delivery completed in the window. */
function matchPublishedIn(scope: Scope, window: Window): Fields {
  return {
    $match: {
      userId: scope.userId,
      // The index holds only posts that a platform accepted.
      publishedKeys: { $exists: true },
      platformStatuses: { $elemMatch: selectEntries(scope, window) },
    },
  }
}

/** Selects the entries of posts that were published in the window. @param path the prefix of their fields */
function selectEntries({ platform, accounts }: Scope, { start, end }: Window, path = ''): Fields {
  return {
    [`${path}completedAt`]: { $gte: start, $lte: end },
    ...(platform && { [`${path}platform`]: platform }),
    // A group may have no accounts, and MongoDB refuses an empty `$or`.
    ...(accounts?.length === 0 && { [`${path}platform`]: { $in: [] } }),
    ...(accounts?.length && {
      $or: accounts.map((account) => ({
        [`${path}platform`]: account.platform,
        [`${path}delivery.accountId`]: account.platformId,
      })),
    }),
  }
}

/**
 * Every pair over the window and the time before it, the number of posts published in the window, and the last follower count of
 * every account in or before it.
 * @param since the start of the time with which the window is compared
 */
export function comparedPairs(scope: Scope, window: Window, since: Date): Aggregation {
  return {
    collection: POST_SNAPSHOTS,
    stages: [
      ...matchSeenIn(scope, { start: since, end: window.end }),
      groupLastSnapshots({ taken: findPeriod(since, window.start) }, [...ENGAGEMENTS, 'lastSeenAt', ...SUMMED]),
      {
        $group: {
          _id: PAIR_OF_ID,
          ...COMPLETED,
          latest: { $max: { $cond: [isSeenSince(window.start, '$last.'), '$last', null] } },
          ...selectLastKnown('previous', { $eq: ['$_id.taken', 'previous'] }),
          ...selectLastKnown('current', { $eq: ['$_id.taken', 'current'] }),
        },
      },
      ...addKnownBefore(scope, since, {
        latest: {
          $cond: [
            '$latest',
            { ...PAIR_OF_ID, ...ACCOUNT, completedAt: '$completedAt', ...pickFields('latest', SUMMED) },
            null,
          ],
        },
        previous: pickKnownValues('previous'),
        current: pickKnownValues('current'),
      }),
      {
        $unionWith: {
          coll: 'posts',
          pipeline: [matchPublishedIn(scope, window), { $count: 'publishedPosts' }],
        },
      },
      { $unionWith: { coll: ACCOUNT_SNAPSHOTS, pipeline: selectLastFollowers(scope, window.end) } },
    ],
  }
}

function selectLastFollowers(scope: Scope, until: Date): Fields[] {
  return [
    matchFollowers(scope, until),
    { $sort: { userId: 1, platform: 1, accountId: 1, slot: -1 } },
    { $group: { _id: COUNTED, takenAt: { $first: '$takenAt' }, followers: { $first: '$followers' } } },
    { $project: { _id: 0, counted: { ...COUNTED_OF_ID, takenAt: '$takenAt', followers: '$followers' } } },
  ]
}

function matchFollowers(scope: Scope, until: Date): Fields {
  return { $match: { ...selectAccounts(scope), takenAt: { $lte: until } } }
}

/** The last count of each account before the days (day -1) and on each of them. */
export function followerCounts(scope: Scope, { end }: Window, days: CalendarDay[]): Aggregation {
  return {
    collection: ACCOUNT_SNAPSHOTS,
    stages: [
      matchFollowers(scope, end),
      {
        $group: {
          _id: { ...COUNTED, day: findDayIndex(days, '$takenAt') },
          last: { $max: { takenAt: '$takenAt', followers: '$followers' } },
        },
      },
      {
        $project: {
          _id: 0,
          ...COUNTED_OF_ID,
          day: '$_id.day',
          ...pickFields('last', ['takenAt', 'followers']),
        },
      },
    ],
  }
}

/** The latest snapshot of each post on each account, of one platform or all. */
export function latestOfPosts(userId: string, postIds: string[], platform?: Platform): Aggregation {
  return {
    collection: POST_SNAPSHOTS,
    stages: [
      { $match: { userId, postId: { $in: postIds }, ...(platform && { platform }) } },
      { $sort: { postId: 1, slot: -1 } },
      { $group: { _id: PAIR, latest: { $first: '$$ROOT' } } },
      { $replaceRoot: { newRoot: '$latest' } },
    ],
  }
}

/**
 * Selects snapshots with a fetch in the window. The index finds the few that began earlier, because no snapshot covers more than a
 * day.
 */
function matchSeenIn(scope: Scope, { start, end }: Window): Fields[] {
  return [
    matchTakenIn(scope, { start: new Date(start.getTime() - LONGEST_SNAPSHOT_MS), end }),
    { $match: { $or: [{ takenAt: { $gte: start } }, { lastSeenAt: { $gte: start } }] } },
  ]
}

/** Whether the last fetch of a snapshot was since `start`. @param prefix the path of its fields */
function isSeenSince(start: Date, prefix: string): Fields {
  return { $or: [{ $gte: [`${prefix}takenAt`, start] }, { $gte: [`${prefix}lastSeenAt`, start] }] }
}

/** Whether a snapshot was stored in the `current` window, the `previous` one, or `earlier`. */
function findPeriod(previous: Date, current: Date): Fields {
  const isSince = (start: Date) => ({ $gte: ['$takenAt', start] })
  return { $cond: [isSince(current), 'current', { $cond: [isSince(previous), 'previous', 'earlier'] }] }
}

/** Selects snapshots that were stored in the window. */
function matchTakenIn(scope: Scope, { start, end }: Window): Fields {
  return { $match: { ...selectAccounts(scope), takenAt: { $gte: start, $lte: end } } }
}

/** Selects snapshots by the indexed platform, also where the accounts are known. */
function selectAccounts({ userId, platform, accounts }: Scope): Fields {
  const platforms = accounts && [...new Set(accounts.map((account) => account.platform))]
  return {
    userId,
    ...(platforms && { platform: { $in: platforms }, accountId: { $in: accounts.map(({ accountId }) => accountId) } }),
    ...(platform && { platform }),
  }
}

/** Selects the latest record: records compare by their first field, `takenAt`. */
function selectNewest(names: readonly string[]): Fields {
  return { $max: { takenAt: '$takenAt', ...Object.fromEntries(names.map((name) => [name, `$${name}`])) } }
}

/**
 * The last snapshot of every pair and `part`, for each set of reported metrics. These few records hold all last known values,
 * so only one value per group is computed over the many snapshots.
 */
function groupLastSnapshots(part: Fields, names: readonly string[]): Fields {
  const reported = ENGAGEMENTS.map((name) => ({ $isNumber: `$${name}` }))
  return { $group: { _id: { ...PAIR, ...part, reported }, ...COMPLETED, last: selectNewest(names) } }
}

/** The last known value of each metric among the results of `groupLastSnapshots`, in fields with this prefix. */
function selectLastKnown(prefix: string, condition: Fields = {}): Fields {
  return Object.fromEntries(
    ENGAGEMENTS.map((name) => {
      const value = `$last.${name}`
      const isSelected = { $and: [{ $isNumber: value }, ...(Object.keys(condition).length > 0 ? [condition] : [])] }
      return [`${prefix}_${name}`, { $max: { $cond: [isSelected, { at: '$last.takenAt', value }, null] } }]
    }),
  )
}

/** The values that `selectLastKnown` found. */
function pickKnownValues(prefix: string): Fields {
  return Object.fromEntries(ENGAGEMENTS.map((name) => [name, { $ifNull: [`$${prefix}_${name}.value`, null] }]))
}

/**
 * Groups pairs into a few buckets, each with the last known values of its pairs before `start`. One lookup per pair would take
 * most of the time, and one for all could exceed the document size limit.
 */
function addKnownBefore({ userId }: Scope, start: Date, fields: Fields): Fields[] {
  const bucket = { $substrBytes: ['$_id.postId', LAST_DIGIT_OF_ID, 1] }
  const ifOlder = { $cond: [{ $lt: ['$completedAt', start] }, '$_id.postId', '$$REMOVE'] }
  return [
    {
      $group: {
        _id: bucket,
        pairs: { $push: { ...PAIR_OF_ID, completedAt: '$completedAt', ...fields } },
        older: { $addToSet: ifOlder },
      },
    },
    {
      $lookup: {
        from: POST_SNAPSHOTS,
        localField: 'older',
        foreignField: 'postId',
        pipeline: [
          // Snapshots are never older than their slot, and the index is by slot.
          { $match: { userId, slot: { $lt: start }, takenAt: { $lt: start } } },
          groupLastSnapshots({}, ENGAGEMENTS),
          { $group: { _id: PAIR_OF_ID, ...selectLastKnown('known') } },
          { $project: { _id: 0, ...PAIR_OF_ID, ...pickKnownValues('known') } },
        ],
        as: 'before',
      },
    },
    { $project: { _id: 0, pairs: 1, before: 1 } },
  ]
}

function pickFields(record: string, names: readonly string[]): Fields {
  return Object.fromEntries(names.map((name) => [name, `$${record}.${name}`]))
}

/**
 * The index of the day that an instant falls on, -1 before the first. The application computes the days, because the database
 * has its own time zone rules.
 */
function findDayIndex(days: CalendarDay[], instant: string): unknown {
  const search = (low: number, high: number): unknown => {
    if (low === high) return low
    const middle = Math.ceil((low + high) / 2)
    return { $cond: [{ $gte: [instant, days[middle]!.start] }, search(middle, high), search(low, middle - 1)] }
  }
  return search(-1, days.length - 1)
}
