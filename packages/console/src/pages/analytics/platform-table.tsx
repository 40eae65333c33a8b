import { Table, Text } from '@mantine/core'
import type { components } from '@postonce/sdk'
import { DataTable } from '../../shared/data-table.tsx'
import { Figure } from '../../shared/figure.tsx'
import { AccountName } from '../../shared/platforms.tsx'
import { Section } from '../../shared/section.tsx'
import type { AnalyticsQuery } from './analytics-query.ts'
import { CsvButton } from './csv-button.tsx'

const percent = new Intl.NumberFormat(undefined, { style: 'percent', maximumFractionDigits: 1 })

interface PlatformTableProps {
  platforms: components['schemas']['PlatformPerformance'][]
  query: AnalyticsQuery
}

export function PlatformTable({ platforms, query }: PlatformTableProps) {
  return (
    <Section title="Platforms" actions={<CsvButton figures="platforms" query={query} />}>
      {platforms.length === 0 ? (
        <Text c="dimmed">No post was published in this period.</Text>
      ) : (
        <DataTable head={['Platform', '>Posts', '>Engagement', '>Rate']} minWidth={300}>
          {platforms.map(({ _id, totalPosts, totalEngagement, avgEngagementRate }) => (
            <Table.Tr key={_id}>
              <Table.Td>
                <AccountName platform={_id} name={null} />
              </Table.Td>
              <Table.Td ta="right">
                <Figure value={totalPosts} />
              </Table.Td>
              <Table.Td ta="right">
                <Figure value={totalEngagement} />
              </Table.Td>
              <Table.Td ta="right">
                {avgEngagementRate === null ? <Figure value={null} /> : percent.format(avgEngagementRate)}
              </Table.Td>
            </Table.Tr>
          ))}
        </DataTable>
      )}
    </Section>
  )
}
