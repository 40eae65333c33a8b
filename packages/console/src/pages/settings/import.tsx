import { Alert, Anchor, Badge, Button, Checkbox, Group, Progress, Select, Stack, Table, Text } from '@mantine/core'
import { useInfiniteQuery, useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { Link, useNavigate, useParams } from '@tanstack/react-router'
import type { components } from '@postonce/sdk'
import { useState } from 'react'
import { countOf } from '../../shared/counts.ts'
import { DataTable } from '../../shared/data-table.tsx'
import { client } from '../../session/session.ts'
import { showError } from '../../shared/errors.ts'
import { Section } from '../../shared/section.tsx'
import { Failure, Loading, QueryView } from '../../shared/states.tsx'
import { IMPORT_STATES } from './imports.tsx'

type Import = components['schemas']['Import']
type RowStatus = components['schemas']['ImportRowStatus']

const PROGRESS_MS = 2_000
const ROW_STATUSES: Record<RowStatus, { label: string; color: string }> = {
  ready: { label: 'Ready', color: 'teal' },
  warning: { label: 'Warning', color: 'yellow' },
  conflict: { label: 'Conflict', color: 'orange' },
  error: { label: 'Error', color: 'red' },
  created: { label: 'Created', color: 'teal' },
  skipped: { label: 'Left out', color: 'gray' },
  failed: { label: 'Failed', color: 'red' },
}

/** The planned effect of each row of an import, and the progress. */
export function ImportPage() {
  const { id } = useParams({ from: '/signed-in/settings/imports/$id' })
  const found = useQuery({
    queryKey: ['imports', id],
    queryFn: () => client.imports.get(id),
    refetchInterval: ({ state }) => (state.data?.state === 'applying' ? PROGRESS_MS : false),
  })
  return (
    <Stack>
      <Anchor component={Link} to="/settings/imports" size="sm">
        All imports
      </Anchor>
      <QueryView query={found}>
        {(one) => (
          <>
            <Plan one={one} />
            <Rows id={id} state={one.state} />
          </>
        )}
      </QueryView>
    </Stack>
  )
}

function Plan({ one }: { one: Import }) {
  const { id, state, rows, counts, posts, allowance, pausedBecause } = one
  const queries = useQueryClient()
  const navigate = useNavigate()
  const [skips, setSkips] = useState({ skipErrors: true, skipConflicts: false })
  const acting = useMutation({
    mutationFn: (act: () => Promise<unknown>) => act(),
    onError: showError,
    onSettled: () => Promise.all(['imports', 'posts'].map((key) => queries.invalidateQueries({ queryKey: [key] }))),
  })
  const button = (label: string, act: () => Promise<unknown>, variant = 'default') => (
    <Button size="sm" variant={variant} loading={acting.isPending} onClick={() => acting.mutate(act)}>
      {label}
    </Button>
  )
  const { label, color } = IMPORT_STATES[state]
  return (
    <Section
      title={countOf(rows, 'row')}
      actions={
        <Badge variant="light" color={color}>
          {label}
        </Badge>
      }
    >
      <Stack>
        {state === 'planned' && (
          <Text size="sm">
            Creates {countOf(posts.scheduled, 'planned post')} and {countOf(posts.drafts, 'draft')}
            {posts.immediate > 0 && `, and publishes ${countOf(posts.immediate, 'post')} immediately`}.
          </Text>
        )}
        {allowance.missing > 0 && (
          <Alert color="yellow">
            Your plan has room for {allowance.limit - allowance.used} more posts; {allowance.missing} are too many. The
            import pauses there.
          </Alert>
        )}
        {pausedBecause === 'POST_LIMIT_REACHED' && (
          <Alert color="yellow">The plan has no room for further posts. Change your plan, then continue.</Alert>
        )}
        <Group gap="xs">
          {(Object.keys(ROW_STATUSES) as RowStatus[])
            .filter((status) => counts[status] > 0)
            .map((status) => (
              <Badge key={status} variant="light" color={ROW_STATUSES[status].color}>
                {ROW_STATUSES[status].label} {counts[status]}
              </Badge>
            ))}
        </Group>
        {state !== 'planned' && (
          <Progress
            value={((counts.created + counts.skipped + counts.failed) / Math.max(1, rows)) * 100}
            aria-label="Progress"
          />
        )}
        {state === 'planned' && (
          <>
            {counts.error > 0 && (
              <Checkbox
                label={`Leave out ${countOf(counts.error, 'row')} with errors`}
                checked={skips.skipErrors}
                onChange={({ currentTarget }) => setSkips({ ...skips, skipErrors: currentTarget.checked })}
              />
            )}
            {counts.conflict > 0 && (
              <Checkbox
                label={`Leave out ${countOf(counts.conflict, 'row')} with conflicts`}
                checked={skips.skipConflicts}
                onChange={({ currentTarget }) => setSkips({ ...skips, skipConflicts: currentTarget.checked })}
              />
            )}
          </>
        )}
        <Group gap="xs">
          {state === 'planned' && button('Create the posts', () => client.imports.apply(id, skips), 'filled')}
          {state === 'applying' && button('Pause', () => client.imports.pause(id))}
          {state === 'paused' && button('Continue', () => client.imports.resume(id), 'filled')}
          {(state === 'applying' || state === 'paused') && button('Cancel', () => client.imports.cancel(id))}
          {state !== 'applying' &&
            button('Remove this import', async () => {
              await client.imports.delete(id)
              await navigate({ to: '/settings/imports' })
            })}
        </Group>
      </Stack>
    </Section>
  )
}

function Rows({ id, state }: { id: string; state: Import['state'] }) {
  const [status, setStatus] = useState<RowStatus | null>(null)
  const rows = useInfiniteQuery({
    queryKey: ['imports', id, 'rows', status, state],
    initialPageParam: '',
    queryFn: ({ pageParam }) =>
      client.request('GET', '/api/imports/{importId}/rows', {
        path: { importId: id },
        query: { ...(status && { status: [status] }), ...(pageParam && { cursor: pageParam }) },
      }),
    getNextPageParam: ({ nextCursor }) => nextCursor,
  })
  return (
    <Section
      title="Rows"
      actions={
        <Select
          aria-label="Status"
          placeholder="All rows"
          size="xs"
          clearable
          data={Object.entries(ROW_STATUSES).map(([value, { label }]) => ({ value, label }))}
          value={status}
          onChange={(value) => setStatus(value as RowStatus | null)}
        />
      }
    >
      {rows.isError && <Failure error={rows.error} retry={() => void rows.refetch()} />}
      {rows.isPending && <Loading />}
      {rows.data && (
        <DataTable head={['Row', 'Status', 'Post']}>
          {rows.data.pages
            .flatMap((page) => page.rows)
            .map(({ row, status: now, post, postId, errors, warnings, conflicts }) => (
              <Table.Tr key={row}>
                <Table.Td>{row}</Table.Td>
                <Table.Td>
                  <Badge variant="light" color={ROW_STATUSES[now].color} miw="max-content">
                    {ROW_STATUSES[now].label}
                  </Badge>
                </Table.Td>
                <Table.Td>
                  {postId ? (
                    <Anchor component={Link} to={`/posts/${postId}`} size="sm">
                      Open the post
                    </Anchor>
                  ) : (
                    <Text size="sm" lineClamp={2} className="user-text">
                      {textOf(post)}
                    </Text>
                  )}
                  {[...errors, ...conflicts, ...warnings].map(({ message }, index) => (
                    <Text key={index} size="sm" c="dimmed" className="user-text">
                      {message}
                    </Text>
                  ))}
                </Table.Td>
              </Table.Tr>
            ))}
        </DataTable>
      )}
      {rows.hasNextPage && (
        <Button
          variant="default"
          size="xs"
          mt="sm"
          loading={rows.isFetchingNextPage}
          onClick={() => void rows.fetchNextPage()}
        >
          More rows
        </Button>
      )}
    </Section>
  )
}

function textOf(post: unknown): string {
  const { content } = (post ?? {}) as { content?: { text?: string } }
  return content?.text ?? ''
}
