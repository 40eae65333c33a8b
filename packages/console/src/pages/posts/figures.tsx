import { Button, Table, Text } from '@mantine/core'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import type { components } from '@postonce/sdk'
import { client } from '../../session/session.ts'
import { showError } from '../../shared/errors.ts'
import { DataTable } from '../../shared/data-table.tsx'
import { Figure } from '../../shared/figure.tsx'
import { AccountName } from '../../shared/platforms.tsx'
import { Section } from '../../shared/section.tsx'
import { fromNow } from '../../shared/times.ts'

type Post = components['schemas']['Post']
type Detail = components['schemas']['PostDetail']
type Snapshot = components['schemas']['MetricsSnapshot']

interface FiguresProps {
  post: Post
  analytics: Detail['analytics']
  accountAnalytics: NonNullable<Detail['accountAnalytics']>
}

/** The latest figures on each account that has published the post. */
export function Figures({ post, analytics, accountAnalytics }: FiguresProps) {
  const queries = useQueryClient()
  const published = post.platformStatuses.filter(({ status }) => status === 'completed')
  const refreshing = useMutation({
    mutationFn: async () => {
      for (const { platform, accountId } of published) {
        await client.request('POST', '/api/analytics/posts/{postId}/refresh', {
          path: { postId: post._id },
          query: { platform, ...(accountId && { account: accountId }) },
        })
      }
    },
    onError: showError,
    onSuccess: () => queries.invalidateQueries({ queryKey: ['posts', post._id] }),
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
            <Table.Td maw={150}>
              <AccountName platform={platform} name={accountName} />
            </Table.Td>
            {COLUMNS.map(({ label, of }) => (
              <Table.Td key={label} ta="right">
                <Figure value={snapshot && of(snapshot)} />
              </Table.Td>
            ))}
          </Table.Tr>
        ))}
      </DataTable>
      <Text size="xs" c="dimmed" mt="xs">
        {latest ? `Read ${fromNow(latest)}.` : 'Not read yet.'} A dash means that the platform does not report it.
      </Text>
    </Section>
  )
}

const COLUMNS: { label: string; of: (snapshot: Snapshot) => number | null }[] = [
  { label: 'Likes', of: ({ likes }) => likes },
  { label: 'Shares', of: ({ shares }) => shares },
  { label: 'Comments', of: ({ comments }) => comments },
  { label: 'Views', of: ({ impressions }) => impressions },
]
