import type { components } from '@postonce/sdk'
import { Option } from 'commander'
import type { CommandSpec, Run } from '../command.ts'
import { ACCOUNT, withoutUndefined } from '../options.ts'
import { formatFields, formatTable } from '../output.ts'

type Overview = components['schemas']['AnalyticsOverview']

interface AnalyticsOptions {
  period: components['schemas']['Period']
  account?: string
}

export const analyticsCommand: CommandSpec = {
  usage: 'analytics',
  summary: 'Show engagement and followers of a period',
  options: [
    new Option('--period <days>', 'length of the period').choices(['7d', '30d']).default('7d'),
    new Option('--account <account>', `only of this account; ${ACCOUNT}`),
  ],
  run: async ({ client, call, print, options: { period, account } }: Run<AnalyticsOptions>) =>
    print(await client.analytics.overview(withoutUndefined({ period, account }), call), formatOverview),
}

function formatOverview({ stats, followers, platformPerformance }: Overview): string {
  const totals = formatFields({
    posts: stats.totalPosts,
    engagement: stats.totalEngagement,
    change: toPercent(stats.engagementChangePercent, 1),
    'engagement rate': toPercent(stats.avgEngagementRate, 100),
    impressions: stats.totalImpressions,
    reach: stats.totalReach,
    followers: followers.total,
  })
  if (platformPerformance.length === 0) return totals
  const platforms = formatTable(platformPerformance, [
    { title: 'PLATFORM', value: ({ _id }) => _id },
    { title: 'POSTS', value: ({ totalPosts }) => totalPosts },
    { title: 'ENGAGEMENT', value: ({ totalEngagement }) => totalEngagement },
    { title: 'RATE', value: ({ avgEngagementRate }) => toPercent(avgEngagementRate, 100) },
  ])
  return `${totals}\n\n${platforms}`
}

function toPercent(value: number | null | undefined, factor: number): string | null {
  return value === null || value === undefined ? null : `${(value * factor).toFixed(1)} %`
}
