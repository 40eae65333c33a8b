import { trusted, type Model, type QueryFilter } from 'mongoose'
import type { SlotCount } from '../../domain/posts/day-counts.ts'
import {
  POST_STATUSES,
  type PlatformStatus,
  type Post,
  type PostClient,
  type PostSource,
  type PostStatus,
} from '../../domain/posts/post.ts'
import type { Platform } from '../../domain/shared/platforms.ts'
import { toTextPattern } from '../shared/text-pattern.ts'
import { LIST_DEADLINE_MS } from './match-posts.ts'
import { CONTENT_PATHS, RANGE_INDEXES, WITHOUT_LOGS, type PostCollection, type StoredPost } from './post-schema.ts'
import type { PostRef } from './pending-events.ts'
import { shortenLargePosts, type ListedPost } from './shorten-posts.ts'

/** Selects posts of a user. All conditions hold together. */
export interface PostFilter {
  statuses?: PostStatus[]
  /** With a failed delivery that neither the user cancelled nor a submitted duplicate replaced. */
  isUnresolved?: boolean
  platform?: Platform
  /** Ids of accounts, connected or not: posts for any of them. */
  accountIds?: readonly string[]
  source?: PostSource
  clients?: PostClient[]
  /** Bounds on `scheduledAt`, or on `createdAt` where that is null. */
  from?: Date
  to?: Date
  /** Searches the common text and each platform's text, with those of threads, ignoring case. */
  search?: string
}

export interface PostQuery extends PostFilter {
  page: number
  limit: number
  /** `date` is the value that `from` and `to` bound. */
  sortBy: 'createdAt' | 'scheduledAt' | 'date'
  sortOrder: 'asc' | 'desc'
}

/** The length of the slots in which posts are counted. Days of all timezones begin at one. */
const SLOT_MINUTES = 15

/** The paths under which a post has text. */
const TEXT_PATHS = CONTENT_PATHS.map((path) => `${path}.text`)
/** The fields that decide when and with what content each account receives a post. */
const PLACED_FIELDS = {
  status: 1,
  scheduledAt: 1,
  dueAt: 1,
  createdAt: 1,
  content: 1,
  platformSpecificContent: 1,
  accountSpecificContent: 1,
  'platformStatuses.platform': 1,
  'platformStatuses.accountId': 1,
} as const

export type PlacedPost = Pick<
  Post,
  | '_id'
  | 'status'
  | 'scheduledAt'
  | 'dueAt'
  | 'createdAt'
  | 'content'
  | 'platformSpecificContent'
  | 'accountSpecificContent'
> & { platformStatuses: Pick<PlatformStatus, 'platform' | 'accountId'>[] }

/** Characters of the text of a post in a calendar. */
const CALENDAR_TEXT_LENGTH = 140
const CALENDAR_FIELDS = {
  status: 1,
  scheduledAt: 1,
  createdAt: 1,
  revision: 1,
  metadata: 1,
  'platformStatuses.platform': 1,
  'platformStatuses.accountId': 1,
  text: { $substrCP: ['$content.text', 0, CALENDAR_TEXT_LENGTH] },
  mediaCount: { $size: { $ifNull: ['$content.mediaItems', []] } },
}

export type CalendarPost = Pick<Post, '_id' | 'status' | 'scheduledAt' | 'createdAt' | 'revision' | 'metadata'> & {
  /** The beginning of the common text. */
  text: string
  mediaCount: number
  platformStatuses: Pick<PlatformStatus, 'platform' | 'accountId'>[]
}

export type WaitingPost = Pick<Post, '_id' | 'status' | 'scheduledAt'>

/** Lists of one user's posts. */
export function createPostLists(model: Model<StoredPost>, collection: PostCollection) {
  return {
    /** A page of posts, bounded in bytes: large posts are shortened, so that page, limit and total stay correct. */
    async list(userId: string, query: PostQuery): Promise<{ posts: ListedPost[]; total: number }> {
      const filter = toListFilter(userId, query)
      const [posts, total] = await Promise.all([
        collection()
          .aggregate<ListedPost>([...toPageStages(filter, query), ...shortenLargePosts(query.limit)], {
            maxTimeMS: LIST_DEADLINE_MS,
          })
          .toArray(),
        model.countDocuments(filter).maxTimeMS(LIST_DEADLINE_MS),
      ])
      return { posts, total }
    },

    /**
     * Counts posts by status and quarter of an hour, of `scheduledAt` or else `createdAt`. Without filters it reads only keys: those of
     * the posts in the range.
     */
    async countPerSlot(
      userId: string,
      { from, to, ...filter }: PostFilter & { from: Date; to: Date },
    ): Promise<SlotCount[]> {
      const range = toRange({ from, to })
      const conditions = toFilter(userId, { statuses: [...POST_STATUSES], ...filter })
      const count = (date: 'scheduledAt' | 'createdAt') =>
        collection()
          .aggregate<SlotCount>(toSlotStages(date, { ...conditions, [date]: range }), {
            hint: RANGE_INDEXES[date],
            maxTimeMS: LIST_DEADLINE_MS,
          })
          .toArray()
      const counts = await Promise.all([count('scheduledAt'), count('createdAt')])
      return counts.flat()
    },

    /** The earliest posts in a range, with the fields that a calendar shows. */
    calendarOf: (userId: string, filter: PostFilter, limit: number): Promise<CalendarPost[]> =>
      collection()
        .aggregate<CalendarPost>(
          [
            ...toPageStages(toListFilter(userId, filter), { sortBy: 'date', sortOrder: 'asc', page: 1, limit }),
            { $project: CALENDAR_FIELDS },
          ],
          { maxTimeMS: LIST_DEADLINE_MS },
        )
        .toArray(),

    /** The ids of posts that can still be cancelled. */
    async listWaiting(userId: string, limit: number): Promise<string[]> {
      const filter = { userId, status: { $in: ['PENDING', 'SCHEDULED'] satisfies PostStatus[] } }
      const waiting = await collection()
        .find(filter, { projection: { _id: 1 }, limit })
        .toArray()
      return waiting.map(({ _id }) => _id)
    },

    /** The posts that are still to be published on one of these accounts, drafts included, in the order of their creation. */
    waitingFor: (userId: string, accountIds: readonly string[], limit = 0): AsyncIterable<WaitingPost> =>
      collection()
        .find<WaitingPost>(toWaitingFilter(userId, accountIds), { projection: { status: 1, scheduledAt: 1 }, limit })
        .sort({ createdAt: 1 }),

    /** The posts whose delivery to one of these accounts has an unknown outcome. */
    async listInDoubt(userId: string, accountIds: readonly string[]): Promise<PostRef[]> {
      const inDoubt = {
        accountId: { $in: [...accountIds] },
        status: 'processing' as const,
        'delivery.outcome': 'unknown',
      }
      const filter = { userId, status: 'PROCESSING' as const, platformStatuses: { $elemMatch: inDoubt } }
      return collection()
        .find<PostRef>(filter, { projection: { userId: 1 } })
        .toArray()
    },

    countWaitingFor: (userId: string, accountIds: readonly string[]): Promise<number> =>
      collection().countDocuments(toWaitingFilter(userId, accountIds)),

    /** All posts of the user that match, newest first, as a stream. */
    allOf: (userId: string, filter: PostFilter = {}): AsyncIterable<Post> =>
      collection().aggregate<Post>([
        { $match: toListFilter(userId, filter) },
        { $sort: { createdAt: -1, _id: -1 } },
        { $unset: Object.keys(WITHOUT_LOGS.projection) },
      ]),

    /**
     * The user's posts that are scheduled in a time or, without a schedule, were created in it, as a stream. Posts that were cancelled or
     * failed are left out.
     */
    placedIn: (userId: string, from: Date, until: Date): AsyncIterable<PlacedPost> =>
      collection().find<PlacedPost>(
        {
          userId,
          status: { $nin: ['CANCELLED', 'FAILED'] satisfies PostStatus[] },
          $or: [
            { scheduledAt: { $gte: from, $lte: until } },
            { scheduledAt: null, createdAt: { $gte: from, $lte: until } },
          ],
        },
        { projection: PLACED_FIELDS },
      ),

    /** Up to `limit` posts of the user, in any order. */
    listSome: (userId: string, limit: number): Promise<Post[]> =>
      collection()
        .find<Post>({ userId }, { ...WITHOUT_LOGS, limit })
        .toArray(),
  }
}

function toWaitingFilter(userId: string, accountIds: readonly string[]) {
  return {
    userId,
    status: { $in: ['DRAFT', 'PENDING', 'SCHEDULED', 'PROCESSING'] satisfies PostStatus[] },
    platformStatuses: { $elemMatch: { accountId: { $in: [...accountIds] }, status: 'pending' as const } },
  }
}

function toListFilter(userId: string, { from, to, ...filter }: PostFilter): QueryFilter<Post> {
  if (!from && !to) return toFilter(userId, filter)
  const range = toRange({ from, to })
  return { ...toFilter(userId, filter), $or: [{ scheduledAt: range }, { scheduledAt: null, createdAt: range }] }
}

const UNRESOLVED = {
  status: 'failed' as const,
  errorCode: { $nin: ['CANCELLED' as const, 'SKIPPED' as const] },
  replacedBy: null,
}

/** The conditions besides the range. */
function toFilter(userId: string, filter: Omit<PostFilter, 'from' | 'to'>): QueryFilter<Post> {
  const { statuses, isUnresolved, platform, accountIds, source, clients, search } = filter
  const pattern = search !== undefined && trusted({ $regex: toTextPattern(search), $options: 'i' })
  return {
    userId,
    ...(statuses && { status: trusted({ $in: statuses }) }),
    ...(isUnresolved && { platformStatuses: trusted({ $elemMatch: UNRESOLVED }) }),
    ...(platform && { 'platformStatuses.platform': platform }),
    ...(accountIds && { 'platformStatuses.accountId': trusted({ $in: [...accountIds] }) }),
    ...(source && { 'metadata.source': source }),
    ...(clients && { 'metadata.client': trusted({ $in: clients }) }),
    ...(pattern && { $and: [{ $or: TEXT_PATHS.map((path) => ({ [path]: pattern })) }] }),
  }
}

const toRange = ({ from, to }: { from?: Date | undefined; to?: Date | undefined }) =>
  trusted({ ...(from && { $gte: from }), ...(to && { $lte: to }) })

/** 1 for a post without a time, else 0. */
const WITHOUT_TIME = { $cond: [{ $eq: ['$scheduledAt', null] }, 1, 0] }

function toSlotStages(date: 'scheduledAt' | 'createdAt', match: object): object[] {
  const at = { $dateTrunc: { date: `$${date}`, unit: 'minute', binSize: SLOT_MINUTES } }
  return [
    { $match: match },
    // A condition of the match on null would read the records.
    { $group: { _id: { at, status: '$status' }, count: { $sum: date === 'scheduledAt' ? 1 : WITHOUT_TIME } } },
    { $match: { count: { $gt: 0 } } },
    { $project: { _id: 0, at: '$_id.at', status: '$_id.status', count: 1 } },
  ]
}

/** Sorts indexed fields without computing them. */
function toPageStages(
  filter: QueryFilter<Post>,
  { sortBy, sortOrder, page, limit }: Pick<PostQuery, 'sortBy' | 'sortOrder' | 'page' | 'limit'>,
): object[] {
  const direction = sortOrder === 'asc' ? 1 : -1
  const date = { $ifNull: ['$scheduledAt', '$createdAt'] }
  return [
    { $match: filter },
    ...(sortBy === 'date' ? [{ $set: { date } }] : []),
    { $sort: { [sortBy]: direction, _id: direction } },
    { $skip: (page - 1) * limit },
    { $limit: limit },
    { $unset: 'date' },
  ]
}
