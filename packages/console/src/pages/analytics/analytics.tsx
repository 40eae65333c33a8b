import { Button, Group, SegmentedControl, SimpleGrid } from '@mantine/core'
import '@mantine/charts/styles.layer.css'
import { useQuery } from '@tanstack/react-query'
import { Link, useNavigate, useSearch } from '@tanstack/react-router'
import { ChartNoAxesCombined } from 'lucide-react'
import { client } from '../../session/session.ts'
import { Page } from '../../shared/page.tsx'
import { AccountSelect } from '../../shared/post-filters.tsx'
import { Empty, QueryView } from '../../shared/states.tsx'
import type { AnalyticsQuery } from './analytics-query.ts'
import { BestHours } from './best-hours.tsx'
import { Engagement } from './engagement.tsx'
import { Followers } from './followers.tsx'
import { PlatformTable } from './platform-table.tsx'
import { Summary } from './summary.tsx'
import { TopPosts } from './top-posts.tsx'

export interface AnalyticsSearch {
  period?: '7d'
  account?: string
}

export function AnalyticsPage() {
  const search = useSearch({ from: '/signed-in/analytics' })
  const navigate = useNavigate({ from: '/analytics' })
  const query: AnalyticsQuery = {
    period: search.period ?? '30d',
    ...(search.account && { accounts: [search.account] }),
  }
  const overview = useQuery({
    queryKey: ['analytics', 'overview', query],
    queryFn: () => client.analytics.overview(query),
  })
  return (
    <Page title="Analytics" lead="How your posts do, and when they do best.">
      <Group>
        <SegmentedControl
          aria-label="Period"
          value={query.period}
          onChange={(period) =>
            void navigate({
              search: ({ period: _, ...rest }) => (period === '7d' ? { ...rest, period } : rest),
              replace: true,
            })
          }
          data={[
            { value: '7d', label: '7 days' },
            { value: '30d', label: '30 days' },
          ]}
        />
        <AccountSelect
          value={search.account}
          onChange={(account) =>
            void navigate({
              search: ({ account: _, ...rest }) => (account ? { ...rest, account } : rest),
              replace: true,
            })
          }
        />
      </Group>
      <QueryView query={overview}>
        {(data) =>
          data.stats.totalPosts === 0 && data.followers.total === null ? (
            <Empty
              icon={ChartNoAxesCombined}
              title="No figures yet"
              action={
                <Button component={Link} to="/compose">
                  Write a post
                </Button>
              }
            >
              They are collected some minutes after a post is published.
            </Empty>
          ) : (
            <>
              <Summary overview={data} />
              <SimpleGrid cols={{ base: 1, lg: 2 }} spacing="lg">
                <Engagement query={query} />
                <Followers query={query} />
                <PlatformTable platforms={data.platformPerformance} />
                <BestHours query={query} />
              </SimpleGrid>
              <TopPosts query={query} />
            </>
          )
        }
      </QueryView>
    </Page>
  )
}
