import { Type, type Static } from '@sinclair/typebox'
import { PERIODS, RANKINGS, type Period, type Ranking } from '../../domain/analytics/analytics.ts'
import { PostSchema } from '../posts/schemas/post.ts'
import { byPlatform, Instant, nullable, stringEnum, pageFields, PlatformName } from '../shared/schemas/common.ts'
import { derivedFields, metricFields, SnapshotSchema } from '../shared/schemas/snapshot.ts'

const period = stringEnum<Period>(PERIODS, {
  title: 'Period',
  default: '30d',
  description: "Days in the user's timezone: today and the 6 or 29 days before",
})

export const PeriodQuery = Type.Object({ period })
export const PlatformQuery = Type.Object({ period, platform: Type.Optional(PlatformName) })
export const TopQuery = Type.Object({
  period,
  platform: Type.Optional(PlatformName),
  sortBy: stringEnum<Ranking>(RANKINGS, { default: 'totalEngagement' }),
  limit: { ...pageFields.limit, default: 5 },
})

const Count = Type.Integer()
const Rate = nullable(Type.Number({ description: 'Engagement as a fraction of the followers' }))
const Day = Type.String({ format: 'date', description: "A day in the user's timezone" })

const Performance = Type.Object(
  {
    _id: PlatformName,
    totalEngagement: Count,
    totalPosts: Type.Integer({ description: 'A post counts once per platform' }),
    avgEngagementRate: Rate,
  },
  { title: 'PlatformPerformance' },
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
      engagementChangePercent: nullable(Type.Number({ description: 'Change of engagement from the previous period' })),
    }),
    followers: Type.Object({
      total: nullable(Type.Integer({ description: 'Sum of the known counts; null when none is known' })),
      breakdown: byPlatform(nullable(Count)),
    }),
    platformPerformance: PlatformList,
    period: Type.Object({ start: Instant, end: Instant }, { description: 'From the start of the first day until now' }),
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

export const Growth = Type.Array(Type.Object({ _id: Day, totalFollowers: Count, breakdown: byPlatform(Count) }), {
  description: 'Days with a known count',
})

const { content, platformSpecificContent, platformStatuses, createdAt, isShortened } = PostSchema.properties

export const TopPosts = Type.Array(
  Type.Object(
    {
      _id: Type.String({ description: '`<postId>:<platform>`; a post is listed once per platform' }),
      postId: Type.String(),
      platform: PlatformName,
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
    value: Type.Number({ description: 'Mean engagement of posts published in that hour' }),
    postCount: Count,
  }),
  { description: 'Every hour of the week' },
)

export const RefreshQuery = Type.Object({ platform: PlatformName })

export const RefreshedMetrics = Type.Object(
  {
    platform: PlatformName,
    snapshot: nullable(SnapshotSchema),
    analytics: byPlatform(SnapshotSchema, { description: 'The latest snapshot by platform' }),
    fresh: Type.Boolean({
      description: 'False when the platform returned no new counts in time, and the snapshot is an older one',
    }),
  },
  { title: 'RefreshedMetrics' },
)

export type TopPost = Static<typeof TopPosts>[number]
