import { Button, Table, Text } from '@mantine/core'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import type { components } from '@postonce/sdk'
import { client } from '../../session/session.ts'
import { showDone, showError } from '../../shared/errors.ts'
import { DataTable } from '../../shared/data-table.tsx'
import { Figure } from '../../shared/figure.tsx'
import { AccountName } from '../../shared/platforms.tsx'
import { Section } from '../../shared/section.tsx'
import { fromNow } from '../../shared/times.ts'

type Post = components['schemas']['Post']
type Detail = components['schemas']['PostDetail']
type Counts = components['schemas']['MetricsCounts']

/** When figures of platforms that respond slowly are read again. */
const SLOW_MS = [10_000, 30_000]

interface FiguresProps {
  post: Post
  analytics: Detail['analytics']
  accountAnalytics: NonNullable<Detail['accountAnalytics']>
}

/** The latest figures on each account that has published the post. */
export function Figures({ post, analytics, accountAnalytics }: FiguresProps) {
  const queries = useQueryClient()
  const published = post.platformStatuses.filter(({ status }) => status === 'completed')
  const reread = () => Promise.all(['posts', 'analytics'].map((key) => queries.invalidateQueries({ queryKey: [key] })))
  const refreshing = useMutation({
    // One request for all accounts: a user may make one in 15 minutes.
    mutationFn: () => client.request('POST', '/api/analytics/posts/{postId}/refresh', { path: { postId: post._id } }),
    onError: showError,
    onSuccess: async ({ fresh }) => {
      await reread()
      if (fresh) return
      showDone('Some platforms respond slowly. Their figures appear here when they have.')
      for (const ms of SLOW_MS) setTimeout(() => void reread(), ms)
    },
  })
  if (published.length === 0) return null
  const rows = published.map((entry) => ({
    ...entry,
    snapshot: (entry.accountId ? accountAnalytics[entry.accountId] : undefined) ?? analytics[entry.platform] ?? null,
  }))
  const latest = rows
    .flatMap(({ snapshot }) => snapshot?.snapshotAt ?? [])
    .sort()
    .at(-1)
  return (
    <Section
      title="Figures"
      actions={
        <Button size="compact-sm" variant="default" loading={refreshing.isPending} onClick={() => refreshing.mutate()}>
          Read now
        </Button>
      }
    >
      <DataTable head={['Account', ...COLUMNS.map(({ label }) => `>${label}`)]} minWidth={440}>
        {rows.map(({ platform, accountId, accountName, snapshot }) => (
          <Table.Tr key={accountId ?? platform}>
            <Table.Td w="100%" maw={0}>
              <AccountName platform={platform} name={accountName} />
            </Table.Td>
            {COLUMNS.map(({ label, of }) => (
              <Table.Td key={label} ta="right">
                <Figure value={snapshot && of(snapshot.thread?.sum ?? snapshot)} />
              </Table.Td>
            ))}
          </Table.Tr>
        ))}
      </DataTable>
      <Text size="xs" c="dimmed" mt="xs">
        {latest ? `Read ${fromNow(latest)}.` : 'Not read yet.'} A dash means that the platform does not report it.
        {rows.some(({ snapshot }) => snapshot?.thread) && ' Threads are summed.'}
      </Text>
    </Section>
  )
}

const COLUMNS: { label: string; of: (counts: Counts) => number | null }[] = [
  { label: 'Likes', of: ({ likes }) => likes },
  { label: 'Shares', of: ({ shares }) => shares },
  { label: 'Comments', of: ({ comments }) => comments },
  { label: 'Views', of: ({ impressions }) => impressions },
]
