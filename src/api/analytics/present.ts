import { findFetchTime } from '../../domain/analytics/snapshots.ts'
import type { RankedPair } from '../../store/analytics/analytics-reads.ts'
import { presentListedPost } from '../posts/present.ts'
import type { TopPost } from './schema.ts'

export function presentRanked(pair: RankedPair): TopPost {
  const { likes, shares, comments, impressions, reach, saved, totalEngagement, engagementRate, virality } = pair
  const { content, platformSpecificContent, platformStatuses, createdAt, isShortened } = presentListedPost(
    pair.post,
    null,
  )
  return {
    _id: `${pair.postId}:${pair.target ?? pair.platform}`,
    postId: pair.postId,
    platform: pair.platform,
    ...(pair.target && { accountId: pair.target }),
    snapshotAt: findFetchTime(pair).toISOString(),
    metrics: { likes, shares, comments, impressions, reach, saved },
    derived: { totalEngagement, engagementRate, virality },
    postDetails: {
      content,
      platformSpecificContent,
      platformStatuses,
      createdAt,
      ...(isShortened ? { isShortened } : {}),
    },
  }
}
