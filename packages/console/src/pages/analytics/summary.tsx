import { Group, Paper, SimpleGrid, Text } from '@mantine/core'
import type { components } from '@postonce/sdk'
import type { ReactNode } from 'react'
import { Figure } from '../../shared/figure.tsx'
import { PLATFORMS } from '../../shared/platforms.tsx'

const percent = new Intl.NumberFormat(undefined, { style: 'percent', maximumFractionDigits: 1 })
const change = new Intl.NumberFormat(undefined, { maximumFractionDigits: 0, signDisplay: 'exceptZero' })

export function Summary({ overview: { stats, followers } }: { overview: components['schemas']['AnalyticsOverview'] }) {
  const { engagementChangePercent, avgEngagementRate, bestPlatform } = stats
  return (
    <SimpleGrid cols={{ base: 2, sm: 3, lg: 6 }} spacing="sm">
      <Card label="Posts">
        <Figure value={stats.totalPosts} />
      </Card>
      <Card
        label="Engagement"
        note={
          engagementChangePercent === null ? null : `${change.format(engagementChangePercent)} % to the period before`
        }
      >
        <Figure value={stats.totalEngagement} />
      </Card>
      <Card label="Engagement rate">
        {avgEngagementRate === null ? <Figure value={null} /> : percent.format(avgEngagementRate)}
      </Card>
      <Card label="Views">
        <Figure value={stats.totalImpressions} />
      </Card>
      <Card label="Followers">
        <Figure value={followers.total} />
      </Card>
      <Card label="Best platform">{bestPlatform ? PLATFORMS[bestPlatform].name : <Figure value={null} />}</Card>
    </SimpleGrid>
  )
}

function Card({ label, note, children }: { label: string; note?: string | null; children: ReactNode }) {
  return (
    <Paper withBorder p="md" className="surface">
      <Text size="sm" c="dimmed">
        {label}
      </Text>
      <Text fz={24} fw={650} lh={1.3}>
        {children}
      </Text>
      {note && (
        <Group gap={4}>
          <Text size="xs" c="dimmed">
            {note}
          </Text>
        </Group>
      )}
    </Paper>
  )
}
