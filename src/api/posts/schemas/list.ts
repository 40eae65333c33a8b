import { Type, type Static, type TInteger } from '@sinclair/typebox'
import { POST_CLIENTS, POST_STATUSES, type PostStatus } from '../../../domain/posts/post.ts'
import type { PostQuery } from '../../../store/posts/post-lists.ts'
import { ETagField } from '../../shared/etags.ts'
import {
  accountsFilter,
  GroupFilter,
  Instant,
  nullable,
  pageFields,
  pageResultFields,
  PlatformName,
  stringEnum,
} from '../../shared/schemas/common.ts'
import { AccountSnapshots } from '../../shared/schemas/snapshot.ts'
import { Client, Source, Status } from './fields.ts'
import { LatestMetrics, Metadata, PostSchema } from './post.ts'

const rangeBound = (description: string) =>
  Type.String({
    maxLength: 100,
    description: `${description}. Compares \`scheduledAt\`, or \`createdAt\` when the post has no time.`,
    examples: ['2026-05-01', '2026-05-01T09:30:00Z'],
  })

const From = rangeBound('Earliest date-time, or the start of this date in your timezone')
const To = rangeBound('Latest date-time, or the end of this date in your timezone')

/** The filters of everything that selects posts. `toPostFilter` converts them. */
export const filterFields = {
  status: Type.Optional(
    Type.Array(Status, {
      minItems: 1,
      maxItems: POST_STATUSES.length,
      description: 'Posts in any of these statuses',
    }),
  ),
  unresolved: Type.Optional(
    stringEnum(['true'] as const, {
      description: 'Posts with a failed delivery that neither the user cancelled nor a submitted duplicate replaced',
    }),
  ),
  platform: Type.Optional(PlatformName),
  accounts: accountsFilter(
    'Posts for any of these accounts, by their ids, also of accounts that are no longer connected',
  ),
  group: GroupFilter,
  source: Type.Optional(Source),
  client: Type.Optional(
    Type.Array(Client, { minItems: 1, maxItems: POST_CLIENTS.length, description: 'Posts that any of these wrote' }),
  ),
  from: Type.Optional(From),
  to: Type.Optional(To),
  q: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 100,
      description: 'Case-insensitive text to search for in the posts and their threads',
      examples: ['launch'],
    }),
  ),
}

const Filters = Type.Object(filterFields)

export const ListPostsQuery = Type.Object({
  ...pageFields,
  ...filterFields,
  include: Type.Optional(
    stringEnum(['metrics'] as const, {
      description: '`metrics` adds the latest metrics of each post and reduces a `limit` above 50 to 50.',
    }),
  ),
  sortBy: stringEnum<PostQuery['sortBy']>(['createdAt', 'scheduledAt', 'date'], {
    default: 'createdAt',
    description:
      '`date` is the field that `from` and `to` filter on: `scheduledAt`, or `createdAt` when the post has no time.',
  }),
  sortOrder: stringEnum<'asc' | 'desc'>(['asc', 'desc'], { default: 'desc' }),
})

export const ListedPost = Type.Object(
  { ...PostSchema.properties, analytics: Type.Optional(LatestMetrics), accountAnalytics: AccountSnapshots },
  { title: 'ListedPost', description: '`analytics` is present with `include=metrics`.' },
)

export const PostList = Type.Object({ posts: Type.Array(ListedPost), ...pageResultFields }, { title: 'PostList' })

export const RangeQuery = Type.Object({
  ...filterFields,
  from: From,
  to: To,
  timezone: Type.Optional(
    Type.String({
      maxLength: 100,
      description: 'IANA timezone of dates and days; yours by default',
      examples: ['Europe/Berlin'],
    }),
  ),
})

const CalendarPost = Type.Object(
  {
    _id: Type.String(),
    status: Status,
    scheduledAt: nullable(Instant),
    createdAt: Instant,
    text: Type.String({ description: 'The first 140 characters' }),
    mediaCount: Type.Integer(),
    platforms: Type.Array(PlatformName),
    accounts: Type.Array(Type.String(), { description: 'Ids of the accounts' }),
    metadata: Metadata,
    etag: ETagField,
  },
  { title: 'CalendarPost' },
)

export const Calendar = Type.Object(
  {
    posts: Type.Array(CalendarPost, { description: 'In the order of their time' }),
    isComplete: Type.Boolean({ description: 'False when the range has more posts. Ask for a shorter one.' }),
  },
  { title: 'Calendar' },
)

const StatusCounts = Type.Partial(
  Type.Object(
    Object.fromEntries(POST_STATUSES.map((status) => [status, Type.Integer()])) as Record<PostStatus, TInteger>,
  ),
  { description: 'Only statuses that posts have' },
)

export const PostCounts = Type.Object(
  {
    timezone: Type.String(),
    days: Type.Array(
      Type.Object({
        date: Type.String({ format: 'date' }),
        total: Type.Integer(),
        statuses: StatusCounts,
      }),
      { description: 'Every day of the range, in order' },
    ),
  },
  { title: 'PostCounts' },
)

export type RangeQueryFields = Static<typeof RangeQuery>
export type PostFilters = Static<typeof Filters>
export type CalendarPostView = Static<typeof CalendarPost>
export type ListedPostView = Static<typeof ListedPost>
