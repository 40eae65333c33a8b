import { Button, Group, SegmentedControl, SimpleGrid, Text, useComputedColorScheme } from '@mantine/core'
import '@mantine/charts/styles.layer.css'
import { DatePickerInput } from '@mantine/dates'
import { useWindowEvent } from '@mantine/hooks'
import { useQuery } from '@tanstack/react-query'
import { Link, useNavigate, useSearch } from '@tanstack/react-router'
import { ChartNoAxesCombined } from 'lucide-react'
import { useState } from 'react'
import { useAccountFilter, useBrand } from '../../session/brand.ts'
import { client } from '../../session/session.ts'
import { nameAccount, useAccounts } from '../../shared/accounts.ts'
import { Page } from '../../shared/page.tsx'
import { AccountSelect } from '../../shared/post-filters.tsx'
import { Empty, QueryView } from '../../shared/states.tsx'
import { useTimes } from '../../shared/times.ts'
import type { AnalyticsQuery } from './analytics-query.ts'
import { BestHours } from './best-hours.tsx'
import { Engagement } from './engagement.tsx'
import { Followers } from './followers.tsx'
import { PlatformTable } from './platform-table.tsx'
import { Summary } from './summary.tsx'
import { TopPosts } from './top-posts.tsx'

export interface AnalyticsSearch {
  period?: '7d'
  from?: string
  to?: string
  account?: string
}

const DAY_MS = 86_400_000
/** The API stores and computes no more days. */
const MAX_DAYS = 400

export function AnalyticsPage() {
  const search = useSearch({ from: '/signed-in/analytics' })
  const navigate = useNavigate({ from: '/analytics' })
  const { brand } = useBrand()
  const { data: accounts = [] } = useAccounts()
  const { dateOf, date, dateRange, timezone } = useTimes()
  const { period = '30d', from, to, account } = search
  const query: AnalyticsQuery = {
    ...(from !== undefined && to !== undefined ? { from, to } : { period }),
    ...useAccountFilter(account),
  }
  /** Replaces the period; the account stays. */
  const show = (chosen: Omit<AnalyticsSearch, 'account'>) =>
    void navigate({ search: { ...chosen, ...(account && { account }) }, replace: true })
  const overview = useQuery({
    queryKey: ['analytics', 'overview', query],
    queryFn: () => client.analytics.overview(query),
  })
  usePrintInLight()
  const chosen = accounts.find(({ _id }) => _id === account)
  const subject = chosen ? nameAccount(chosen) : brand?.name
  const days = overview.data && dateRange(overview.data.period.start, overview.data.period.end)
  return (
    <Page
      title={subject ? `Analytics of ${subject}` : 'Analytics'}
      lead={
        <>
          {overview.isPending ? 'Loading' : days}
          <Text span inherit className="print-only">
            {` · Created on ${date(new Date().toISOString())} · Days in ${timezone}`}
          </Text>
        </>
      }
    >
      <Group className="no-print">
        <SegmentedControl
          aria-label="Period"
          value={from === undefined ? period : 'days'}
          onChange={(value) =>
            value === 'days'
              ? show({ from: dateOf(Date.now() - 89 * DAY_MS), to: dateOf(Date.now()) })
              : show(value === '7d' ? { period: value } : {})
          }
          data={[
            { value: '7d', label: '7 days' },
            { value: '30d', label: '30 days' },
            { value: 'days', label: 'Any days' },
          ]}
        />
        {from !== undefined && to !== undefined && <Days from={from} to={to} onChange={show} />}
        <AccountSelect
          value={search.account}
          onChange={(account) =>
            void navigate({
              search: ({ account: _, ...rest }) => (account ? { ...rest, account } : rest),
              replace: true,
            })
          }
        />
        <Button variant="default" onClick={() => window.print()}>
          Print a report
        </Button>
      </Group>
      <QueryView query={overview}>
        {(data) =>
          data.stats.totalPosts === 0 && !data.followers.total ? (
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
                <PlatformTable platforms={data.platformPerformance} query={query} />
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

/** Paper is white: charts and tables are printed in the colors of the light scheme. */
function usePrintInLight(): void {
  const scheme = useComputedColorScheme()
  const show = (value: string) => document.documentElement.setAttribute('data-mantine-color-scheme', value)
  useWindowEvent('beforeprint', () => show('light'))
  useWindowEvent('afterprint', () => show(scheme))
}

interface DaysProps {
  from: string
  to: string
  onChange: (days: { from: string; to: string }) => void
}

/** Both ends are chosen before anything is asked for. */
function Days({ from, to, onChange }: DaysProps) {
  const { dateOf } = useTimes()
  const [value, setValue] = useState<[string | null, string | null]>([from, to])
  return (
    <DatePickerInput
      type="range"
      miw={250}
      value={value}
      maxDate={dateOf(Date.now())}
      minDate={dateOf(Date.now() - MAX_DAYS * DAY_MS)}
      onChange={(days) => {
        setValue(days)
        if (days[0] !== null && days[1] !== null) onChange({ from: days[0], to: days[1] })
      }}
    />
  )
}
