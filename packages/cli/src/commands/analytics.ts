import type { components } from '@postonce/sdk'
import { Option } from 'commander'
import type { CommandSpec, Run } from '../command.ts'
import { ACCOUNT, GROUP, repeatedOption, withoutUndefined } from '../options.ts'
import { formatFields, formatTable } from '../output.ts'

type Overview = components['schemas']['AnalyticsOverview']

const FIGURES = ['overview', 'timeline', 'growth', 'posts/top', 'platforms', 'heatmap'] as const

interface AnalyticsOptions {
  period?: components['schemas']['Period']
  from?: string
  to?: string
  account?: string[]
  group?: string[]
  csv?: (typeof FIGURES)[number]
}

export const analyticsCommand: CommandSpec = {
  usage: 'analytics',
  summary: 'Show engagement and followers of a period',
  options: [
    new Option('--period <days>', 'length of the period; the default is 7d').choices(['7d', '30d']),
    new Option('--from <time>', 'first day or time, instead of --period'),
    new Option('--to <time>', 'last day or time; the default is now'),
    repeatedOption('--account <account>', `only of this account; ${ACCOUNT}`),
    repeatedOption('--group <group>', `only of the accounts of this group; ${GROUP}`),
    new Option('--csv <figures>', 'print these figures as CSV instead').choices(FIGURES),
  ],
  async run({ io, client, call, print, options }: Run<AnalyticsOptions>) {
    const { from, to, period = from === undefined ? '7d' : undefined, account: accounts, group, csv } = options
    const query = withoutUndefined({ period, from, to, accounts, group })
    if (csv === undefined) return print(await client.analytics.overview(query, call), formatOverview)
    io.print((await (await client.analytics.download(csv, query, call)).text()).trimEnd())
  },
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
