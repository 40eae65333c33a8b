import { Type, type Static } from '@sinclair/typebox'
import { findFetchTime } from '../../../domain/analytics/snapshots.ts'
import type { PostSnapshot } from '../../../store/analytics/snapshots.ts'
import { Instant, nullable, PlatformName } from './common.ts'

const Metric = nullable(Type.Integer())

/** The metrics that a platform counts for a post; null when the platform does not report one. */
export const metricFields = {
  likes: Metric,
  shares: Metric,
  comments: Metric,
  impressions: Metric,
  reach: Metric,
  saved: Metric,
}

const Counts = Type.Object(metricFields, { title: 'MetricsCounts' })

export const derivedFields = {
  totalEngagement: Metric,
  engagementRate: nullable(
    Type.Number({ description: 'Engagement as a fraction of the followers; null without them' }),
  ),
  virality: nullable(Type.Number({ description: 'Shares as a fraction of the engagement; null without shares' })),
}

export const SnapshotSchema = Type.Object(
  {
    platform: PlatformName,
    snapshotAt: Instant,
    ...metricFields,
    ...derivedFields,
    followerCountAtSnapshot: Metric,
    thread: Type.Optional(
      Type.Object(
        {
          parts: Type.Array(nullable(Counts), { description: 'By post; null without an answer of the platform' }),
          sum: Counts,
        },
        { title: 'ThreadMetrics', description: 'All posts of a thread; the other fields are of the first' },
      ),
    ),
  },
  { title: 'MetricsSnapshot' },
)

export type SnapshotView = Static<typeof SnapshotSchema>

export function presentSnapshot(snapshot: PostSnapshot): SnapshotView {
  const { likes, shares, comments, impressions, reach, saved, totalEngagement, engagementRate, virality } = snapshot
  return {
    platform: snapshot.platform,
    snapshotAt: findFetchTime(snapshot).toISOString(),
    likes,
    shares,
    comments,
    impressions,
    reach,
    saved,
    totalEngagement,
    engagementRate,
    virality,
    followerCountAtSnapshot: snapshot.followerCountAtSnapshot,
    ...(snapshot.thread && { thread: snapshot.thread }),
  }
}

export const AccountSnapshots = Type.Optional(
  Type.Record(Type.String(), SnapshotSchema, {
    description: 'The latest snapshot by account id, for accounts that the post names',
  }),
)

/** Converts the latest snapshots of a post to objects by platform, and by id for accounts that the post names. */
export function presentSnapshots(snapshots: PostSnapshot[]): {
  analytics: Partial<Record<SnapshotView['platform'], SnapshotView>>
  accountAnalytics?: Record<string, SnapshotView>
} {
  const named = snapshots.flatMap((snapshot) => (snapshot.target ? [[snapshot.target, presentSnapshot(snapshot)]] : []))
  const others = snapshots.filter(({ target }) => !target)
  return {
    analytics: Object.fromEntries(others.map((snapshot) => [snapshot.platform, presentSnapshot(snapshot)])),
    ...(named.length > 0 && { accountAnalytics: Object.fromEntries(named) }),
  }
}
