import { Type, type Static, type TSchema } from '@sinclair/typebox'
import { PERIODS, RANKINGS, type Period, type Ranking } from '../../domain/analytics/analytics.ts'
import { MAX_PERIOD_DAYS } from '../../domain/analytics/period.ts'
import { PostSchema } from '../posts/schemas/post.ts'
import {
  accountsFilter,
  byPlatform,
  GroupFilter,
  Instant,
  nullable,
  stringEnum,
  pageFields,
  PlatformName,
} from '../shared/schemas/common.ts'
import { success } from '../shared/schemas/envelope.ts'
import { AccountSnapshots, derivedFields, metricFields, SnapshotSchema } from '../shared/schemas/snapshot.ts'

const bound = (description: string) =>
  Type.String({ maxLength: 100, description, examples: ['2026-05-01', '2026-05-01T09:30:00Z'] })

const readFields = {
  period: Type.Optional(
    stringEnum<Period>(PERIODS, {
      title: 'Period',
      description: "Days in the user's timezone: today and the 6 or 29 days before. `30d` without `period` and `from`",
    }),
  ),
  from: Type.Optional(bound('The first date-time, or the start of this date in your timezone; replaces `period`')),
  to: Type.Optional(
    bound(
      `The last date-time, or the end of this date in your timezone; now by default, and at most ${MAX_PERIOD_DAYS} days`,
    ),
  ),
  platform: Type.Optional(PlatformName),
  accounts: accountsFilter('Ids of connected accounts; without them and `group`, all accounts'),
  group: GroupFilter,
  format: stringEnum(['json', 'csv'] as const, {
    default: 'json',
    description: '`csv` has a row per item, where an empty cell means unknown',
  }),
}

export const ReadQuery = Type.Object(readFields)
export const TopQuery = Type.Object({
  ...readFields,
  sortBy: stringEnum<Ranking>(RANKINGS, { default: 'totalEngagement' }),
  limit: { ...pageFields.limit, default: 5 },
})

/** The response with these figures, as JSON or CSV. */
export const figures = <T extends TSchema>(data: T) =>
  Type.Unsafe<{ success: true; message: string; data: Static<T> } | string>({
    description: 'The figures',
    content: { 'application/json': { schema: success(data) }, 'text/csv': { schema: Type.String() } },
  })

const Count = Type.Integer()
const Rate = nullable(Type.Number({ description: 'Engagement as a fraction of the followers' }))
const Day = Type.String({ format: 'date', description: "A day in the user's timezone" })

const performanceFields = {
  totalEngagement: Count,
  totalPosts: Type.Integer({ description: 'A post counts once per account' }),
  avgEngagementRate: Rate,
}

const Performance = Type.Object(
  {
    _id: PlatformName,
    ...performanceFields,
    accounts: Type.Optional(
      Type.Array(
        Type.Object({
          accountId: Type.String(),
          ...performanceFields,
        }),
        { description: 'Best first, where the posts are from several accounts' },
      ),
    ),
  },
  { title: 'PlatformPerformance' },
)

const FollowersByAccount = Type.Optional(
  Type.Record(Type.String(), Count, {
    description: 'Followers by account id, where several accounts of a platform are counted',
  }),
)

export const PlatformList = Type.Array(Performance, { description: 'Best first; platforms without posts are omitted' })

export const Overview = Type.Object(
  {
    stats: Type.Object({
      bestPlatform: nullable(PlatformName),
      totalPosts: Type.Integer({ description: 'Distinct posts published in the period' }),
      totalEngagement: Count,
      totalImpressions: nullable(Type.Integer({ description: 'Null when no platform reports it' })),
      totalReach: nullable(Type.Integer({ description: 'Null when no platform reports it' })),
      avgEngagementRate: Rate,
      engagementChangePercent: nullable(
        Type.Number({
          description:
            'Change of engagement from the period of the same length before; null when that one gained none, or is no longer stored',
        }),
      ),
    }),
    followers: Type.Object({
      total: nullable(Type.Integer({ description: 'Sum of the known counts; null when none is known' })),
      breakdown: byPlatform(nullable(Count)),
      accounts: FollowersByAccount,
    }),
    platformPerformance: PlatformList,
    period: Type.Object({ start: Instant, end: Instant }, { description: 'Until now at the latest' }),
  },
  { title: 'AnalyticsOverview' },
)

export const Timeline = Type.Array(
  Type.Object({
    _id: Day,
    totalEngagement: Count,
    likes: Count,
    comments: Count,
    shares: Count,
    postCount: Type.Integer({ description: 'Number of completed deliveries' }),
  }),
  { description: 'Engagement gained per day' },
)

export const Growth = Type.Array(
  Type.Object({ _id: Day, totalFollowers: Count, breakdown: byPlatform(Count), accounts: FollowersByAccount }),
  { description: 'Days with a known count' },
)

const { content, platformSpecificContent, platformStatuses, createdAt, isShortened } = PostSchema.properties

export const TopPosts = Type.Array(
  Type.Object(
    {
      _id: Type.String({
        description:
          '`<postId>:<platform>`, or `<postId>:<accountId>` for an account that the post names; a post is listed once per account',
      }),
      postId: Type.String(),
      platform: PlatformName,
      accountId: Type.Optional(Type.String({ description: 'The account, if the post names it' })),
      snapshotAt: Instant,
      metrics: Type.Object(metricFields),
      derived: Type.Object(derivedFields),
      postDetails: Type.Object({
        content,
        platformSpecificContent,
        platformStatuses,
        createdAt,
        isShortened,
      }),
    },
    { title: 'TopPost' },
  ),
)

export const Heatmap = Type.Array(
  Type.Object({
    day: Type.Integer({ minimum: 0, maximum: 6, description: '0 is Sunday' }),
    hour: Type.Integer({ minimum: 0, maximum: 23 }),
    value: nullable(
      Type.Number({
        description:
          'Mean engagement of posts published in that hour; 0 without posts, null when it is not known for any of them',
      }),
    ),
    postCount: Count,
    rank: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: 3,
        description:
          'Marks the three best hours, of those with at least three posts and a value above the average post',
      }),
    ),
  }),
  { description: 'Every hour of the week' },
)

export const RefreshQuery = Type.Object({
  platform: Type.Optional({ ...PlatformName, description: 'By default every account that has published the post' }),
  account: Type.Optional(
    Type.String({ maxLength: 100, description: 'Id of the account, where the post has several on the platform' }),
  ),
})

export const RefreshedMetrics = Type.Object(
  {
    platform: { ...PlatformName, description: 'The platform of `snapshot`, which is that of the first account' },
    snapshot: nullable(SnapshotSchema),
    analytics: byPlatform(SnapshotSchema, { description: 'The latest snapshot by platform' }),
    accountAnalytics: AccountSnapshots,
    fresh: Type.Boolean({
      description: 'False when the platform returned no new counts in time, and the snapshot is an older one',
    }),
  },
  { title: 'RefreshedMetrics' },
)

export type OverviewView = Static<typeof Overview>
export type TopPost = Static<typeof TopPosts>[number]
