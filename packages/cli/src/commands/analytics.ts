import type { components } from '@postonce/sdk'
import { Option, type Command } from 'commander'
import { openClient, printResult, type GlobalOptions, type Io } from '../io.ts'
import { formatFields, formatTable } from '../output.ts'

type Overview = components['schemas']['AnalyticsOverview']

interface AnalyticsOptions extends GlobalOptions {
  period: components['schemas']['Period']
  account?: string
}

export function addAnalyticsCommand(program: Command, io: Io): void {
  program
    .command('analytics')
    .description('Show engagement and followers of a period')
    .addOption(new Option('--period <days>', 'length of the period').choices(['7d', '30d']).default('7d'))
    .option('--account <id>', 'only this account')
    .action(async (_options: unknown, command: Command) => {
      const options = command.optsWithGlobals<AnalyticsOptions>()
      const { period, account } = options
      const query = { period, ...(account === undefined ? {} : { account }) }
      printResult(
        io,
        options,
        await openClient(io, options).analytics.overview(query, { signal: io.signal }),
        formatOverview,
      )
    })
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
