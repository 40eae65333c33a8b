import { Type, type Static } from '@sinclair/typebox'
import { PERIODS, RANKINGS, type Period, type Ranking } from '../../domain/analytics/analytics.ts'
import { PostSchema } from '../posts/schema.ts'
import { byPlatform, Instant, nullable, stringEnum, pageFields, PlatformName } from '../shared/schemas/common.ts'
import { derivedFields, metricFields, SnapshotSchema } from '../shared/schemas/snapshot.ts'

const period = stringEnum<Period>(PERIODS, {
  title: 'Period',
  default: '30d',
  description: "Days in the user's timezone: today until now, and the 6 or 29 whole days before",
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
const Rate = nullable(Type.Number({ description: 'A fraction of the followers' }))
const Day = Type.String({ format: 'date', description: "A day in the user's timezone" })

const Performance = Type.Object(
  {
    _id: PlatformName,
    totalEngagement: Count,
    totalPosts: Type.Integer({ description: 'A post counts once on each platform' }),
    avgEngagementRate: Rate,
  },
  { title: 'PlatformPerformance' },
)

export const PlatformList = Type.Array(Performance, { description: 'The best first; without posts: left out' })

export const Overview = Type.Object(
  {
    stats: Type.Object({
      bestPlatform: nullable(PlatformName),
      totalPosts: Type.Integer({ description: 'Distinct posts that were published in the period' }),
      totalEngagement: Count,
      totalImpressions: nullable(Type.Integer({ description: 'Null while no platform reports any' })),
      totalReach: nullable(Type.Integer({ description: 'Null while no platform reports any' })),
      avgEngagementRate: Rate,
      engagementChangePercent: nullable(Type.Number({ description: 'Of what the period brought, to the one before' })),
    }),
    followers: Type.Object({
      total: nullable(Type.Integer({ description: 'The sum of the known counts; null while none is known' })),
      breakdown: byPlatform(nullable(Count)),
    }),
    platformPerformance: PlatformList,
    period: Type.Object({ start: Instant, end: Instant }, { description: 'From the start of its first day until now' }),
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
    postCount: Type.Integer({ description: 'How many deliveries were completed' }),
  }),
  { description: 'What each day brought' },
)

export const Growth = Type.Array(Type.Object({ _id: Day, totalFollowers: Count, breakdown: byPlatform(Count) }), {
  description: 'The days of which anything is known',
})

const { content, platformSpecificContent, platformStatuses, createdAt, isShortened } = PostSchema.properties

export const TopPosts = Type.Array(
  Type.Object(
    {
      _id: Type.String({ description: '`<postId>:<platform>`: a post is listed once for each platform' }),
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
    value: Type.Number({ description: 'Mean engagement of what was published in that hour' }),
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
    fresh: Type.Boolean({ description: 'False when it took too long: the snapshot is an older one' }),
  },
  { title: 'RefreshedMetrics' },
)

export type TopPost = Static<typeof TopPosts>[number]
