import { trusted, type Model, type QueryFilter } from 'mongoose'
import type { PlatformStatus, Post, PostStatus } from '../../domain/posts/post.ts'
import { PLATFORMS, type Platform } from '../../domain/shared/platforms.ts'
import { toTextPattern } from '../shared/text-pattern.ts'
import { LIST_DEADLINE_MS } from './match-posts.ts'
import { WITHOUT_LOGS, type PostCollection, type StoredPost } from './post-schema.ts'
import type { PostRef } from './pending-events.ts'
import { shortenLargePosts, type ListedPost } from './shorten-posts.ts'

export interface PostQuery {
  page: number
  limit: number
  statuses?: PostStatus[]
  platform?: Platform
  /** The id of an account, connected or not. */
  accountId?: string
  /** Bounds on `scheduledAt`, or on `createdAt` where that is null. */
  from?: Date
  to?: Date
  /** Searches the common text and each platform's text, ignoring case. */
  search?: string
  /** `date` is the value that `from` and `to` bound. */
  sortBy: 'createdAt' | 'scheduledAt' | 'date'
  sortOrder: 'asc' | 'desc'
}

/** The paths under which a post has text. */
const TEXT_PATHS = ['content.text', ...PLATFORMS.map((name) => `platformSpecificContent.${name}.text`)]
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
    allOf: (
      userId: string,
      query: Pick<PostQuery, 'statuses' | 'platform' | 'accountId' | 'from' | 'to'> = {},
    ): AsyncIterable<Post> =>
      collection().aggregate<Post>([
        { $match: toListFilter(userId, query) },
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

function toListFilter(
  userId: string,
  query: Pick<PostQuery, 'statuses' | 'platform' | 'accountId' | 'from' | 'to' | 'search'>,
): QueryFilter<Post> {
  const filter: QueryFilter<Post> = { userId }
  if (query.statuses) filter.status = trusted({ $in: query.statuses })
  if (query.platform) filter['platformStatuses.platform'] = query.platform
  if (query.accountId !== undefined) filter['platformStatuses.accountId'] = query.accountId
  if (query.from || query.to) {
    const range = { ...(query.from ? { $gte: query.from } : {}), ...(query.to ? { $lte: query.to } : {}) }
    filter.$or = [{ scheduledAt: trusted(range) }, { scheduledAt: null, createdAt: trusted(range) }]
  }
  if (query.search !== undefined) {
    const pattern = trusted({ $regex: toTextPattern(query.search), $options: 'i' })
    filter.$and = [{ $or: TEXT_PATHS.map((path) => ({ [path]: pattern })) }]
  }
  return filter
}

/** Sorts indexed fields without computing them. */
function toPageStages(filter: QueryFilter<Post>, { sortBy, sortOrder, page, limit }: PostQuery): object[] {
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
