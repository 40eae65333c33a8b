import { stringify } from 'csv-stringify/sync'
import type { TimelineDay } from '../../domain/analytics/engagement.ts'
import type { GrowthDay } from '../../domain/analytics/growth.ts'
import type { HeatCell, PlatformPerformance } from '../../domain/analytics/performance.ts'
import { escapeCell } from '../../domain/imports/csv-rows.ts'
import { PLATFORMS } from '../../domain/shared/platforms.ts'
import { CSV_FORMAT } from '../shared/csv.ts'
import type { OverviewView, TopPost } from './schema.ts'

/** Named cells; null is a figure that is not known. */
type Row = Record<string, string | number | null | undefined>

/** The columns, also of a file without rows, and the rows. */
export interface Table {
  columns: string[]
  rows: Row[]
}

/** Returns a CSV file. Unknown figures are empty cells, and spreadsheets read no text as a formula. */
export function toCsv({ columns, rows }: Table): string {
  const cast = { string: (text: string, { header }: { header: boolean }) => (header ? text : escapeCell(text)) }
  return stringify(rows, { ...CSV_FORMAT, columns, cast })
}

/** One row with the totals. */
export function tabulateOverview({ stats, followers, period: { start, end } }: OverviewView): Table {
  const breakdown = PLATFORMS.map((platform) => [`followers_${platform}`, followers.breakdown[platform]])
  const row: Row = { start, end, ...stats, followers: followers.total, ...Object.fromEntries(breakdown) }
  return { columns: Object.keys(row), rows: [row] }
}

/** A row per day. */
export function tabulateTimeline(days: TimelineDay[]): Table {
  return {
    columns: ['day', 'totalEngagement', 'likes', 'comments', 'shares', 'postCount'],
    rows: days.map(({ _id: day, ...figures }) => ({ day, ...figures })),
  }
}

/** A row per day, with a column per platform, and per account where a platform has several. */
export function tabulateGrowth(days: GrowthDay[]): Table {
  const accountIds = [...new Set(days.flatMap(({ accounts = {} }) => Object.keys(accounts)))].toSorted()
  return {
    columns: ['day', 'totalFollowers', ...PLATFORMS, ...accountIds],
    rows: days.map(({ _id: day, totalFollowers, breakdown, accounts }) => ({
      day,
      totalFollowers,
      ...breakdown,
      ...accounts,
    })),
  }
}

/** A row per post and account, best first. */
export function tabulateTopPosts(posts: TopPost[]): Table {
  const columns = ['postId', 'platform', 'accountId', 'url', 'createdAt', 'snapshotAt', 'text']
  const metrics = ['likes', 'comments', 'shares', 'impressions', 'reach', 'saved']
  return {
    columns: [...columns, ...metrics, 'totalEngagement', 'engagementRate', 'virality'],
    rows: posts.map(({ postId, platform, accountId, snapshotAt, metrics: counts, derived, postDetails }) => {
      const { content, createdAt, platformStatuses } = postDetails
      const entry = platformStatuses.find((one) => one.platform === platform && one.accountId === accountId)
      const url = entry?.platformPostUrl
      return { postId, platform, accountId, url, createdAt, snapshotAt, text: content.text, ...counts, ...derived }
    }),
  }
}

/** A row per platform, best first, each followed by a row per account where the posts are from several. */
export function tabulatePlatforms(platforms: PlatformPerformance[]): Table {
  return {
    columns: ['platform', 'accountId', 'totalEngagement', 'totalPosts', 'avgEngagementRate'],
    rows: platforms.flatMap(({ _id: platform, accounts = [], ...figures }) => [
      { platform, ...figures },
      ...accounts.map((account) => ({ platform, ...account })),
    ]),
  }
}

/** A row per hour of the week. */
export function tabulateHeatmap(cells: HeatCell[]): Table {
  return { columns: ['day', 'hour', 'value', 'postCount', 'rank'], rows: cells.map((cell) => ({ ...cell })) }
}
