import { Anchor, Table, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { DataTable } from '../../shared/data-table.tsx'
import { client } from '../../session/session.ts'
import { Figure } from '../../shared/figure.tsx'
import { AccountName } from '../../shared/platforms.tsx'
import { Section } from '../../shared/section.tsx'
import { QueryView } from '../../shared/states.tsx'
import type { AnalyticsQuery } from './analytics-query.ts'
import { CsvButton } from './csv-button.tsx'

const SHOWN = 10

export function TopPosts({ query }: { query: AnalyticsQuery }) {
  const top = useQuery({
    queryKey: ['analytics', 'top', query],
    queryFn: () => client.analytics.topPosts({ ...query, limit: SHOWN }),
  })
  return (
    <Section title="Top posts" actions={<CsvButton figures="posts/top" query={query} />}>
      <QueryView query={top}>
        {(posts) =>
          posts.length === 0 ? (
            <Text c="dimmed">No post was published in this period.</Text>
          ) : (
            <DataTable head={['Post', 'Where', '>Likes', '>Comments', '>Shares', '>Engagement']}>
              {posts.map(({ _id, postId, platform, metrics, derived, postDetails }) => (
                <Table.Tr key={_id}>
                  <Table.Td maw={360}>
                    <Anchor component={Link} to={`/posts/${postId}`} c="inherit" lineClamp={1}>
                      {postDetails.content.text || 'Without text'}
                    </Anchor>
                  </Table.Td>
                  <Table.Td>
                    <AccountName platform={platform} name={null} />
                  </Table.Td>
                  {[metrics.likes, metrics.comments, metrics.shares, derived.totalEngagement].map((value, index) => (
                    <Table.Td key={index} ta="right">
                      <Figure value={value} />
                    </Table.Td>
                  ))}
                </Table.Tr>
              ))}
            </DataTable>
          )
        }
      </QueryView>
    </Section>
  )
}
