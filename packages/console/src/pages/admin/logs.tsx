import { Anchor, Button, Table } from '@mantine/core'
import { keepPreviousData, useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { Link, useNavigate, useSearch } from '@tanstack/react-router'
import { Inbox, ScrollText } from 'lucide-react'
import { DataTable } from '../../shared/data-table.tsx'
import { client } from '../../session/session.ts'
import { showDone, showError } from '../../shared/errors.ts'
import { AccountName } from '../../shared/platforms.tsx'
import { Section } from '../../shared/section.tsx'
import { Empty, QueryView } from '../../shared/states.tsx'
import { fromNow, useTimes } from '../../shared/times.ts'
import { PageTurner } from './page-turner.tsx'

const PAGE_SIZE = 25

/** Figures that could not be collected, with their reason. */
export function DeadLettersPanel() {
  const { page = 1 } = useSearch({ from: '/signed-in/admin/dead-letters' })
  const navigate = useNavigate({ from: '/admin/dead-letters' })
  const queries = useQueryClient()
  const letters = useQuery({
    queryKey: ['admin', 'dead-letters', page],
    queryFn: () => client.request('GET', '/api/admin/dead-letters', { query: { page, limit: PAGE_SIZE } }),
    placeholderData: keepPreviousData,
  })
  const replaying = useMutation({
    mutationFn: (id: string) => client.request('POST', '/api/admin/dead-letters/{id}/replay', { path: { id } }),
    onError: showError,
    onSuccess: () => showDone('They are collected again.'),
    onSettled: () => queries.invalidateQueries({ queryKey: ['admin', 'dead-letters'] }),
  })
  return (
    <Section title="Dead letters" lead="Figures that could not be collected. They are removed after 30 days.">
      <QueryView query={letters}>
        {(list) =>
          list.length === 0 ? (
            <Empty icon={Inbox} title="No dead letters">
              All figures are collected.
            </Empty>
          ) : (
            <>
              <DataTable head={['Of', 'Reason', 'Last', 'Action']}>
                {list.map(({ _id, platform, type, reason, count, lastAt }) => (
                  <Table.Tr key={_id}>
                    <Table.Td>
                      <AccountName platform={platform} name={null} />
                      {type === 'post' ? 'A post' : 'Followers'}
                    </Table.Td>
                    <Table.Td className="user-text">
                      {reason} ({count} times)
                    </Table.Td>
                    <Table.Td>{fromNow(lastAt)}</Table.Td>
                    <Table.Td>
                      <Button
                        size="compact-xs"
                        variant="default"
                        loading={replaying.isPending && replaying.variables === _id}
                        onClick={() => replaying.mutate(_id)}
                      >
                        Collect again
                      </Button>
                    </Table.Td>
                  </Table.Tr>
                ))}
              </DataTable>
              <PageTurner
                page={page}
                isFull={list.length === PAGE_SIZE}
                onPage={(number) => void navigate({ search: { page: number } })}
              />
            </>
          )
        }
      </QueryView>
    </Section>
  )
}

/** The changes that admins made, and the posts that they read. */
export function AuditPanel() {
  const { page = 1 } = useSearch({ from: '/signed-in/admin/audit' })
  const navigate = useNavigate({ from: '/admin/audit' })
  const { dateTime } = useTimes()
  const entries = useQuery({
    queryKey: ['admin', 'audit', page],
    queryFn: () => client.request('GET', '/api/admin/audit', { query: { page, limit: PAGE_SIZE } }),
    placeholderData: keepPreviousData,
  })
  return (
    <Section title="Audit log">
      <QueryView query={entries}>
        {(list) =>
          list.length === 0 ? (
            <Empty icon={ScrollText} title="Nothing yet">
              Changes of admins appear here.
            </Empty>
          ) : (
            <>
              <DataTable head={['When', 'Admin', 'Action', 'User']}>
                {list.map(({ _id, at, actorId, action, subjectId }) => (
                  <Table.Tr key={_id}>
                    <Table.Td>{dateTime(at)}</Table.Td>
                    <Table.Td>{actorId}</Table.Td>
                    <Table.Td>{action}</Table.Td>
                    <Table.Td>
                      <Anchor component={Link} to={`/admin/users/${subjectId}`} size="sm">
                        {subjectId}
                      </Anchor>
                    </Table.Td>
                  </Table.Tr>
                ))}
              </DataTable>
              <PageTurner
                page={page}
                isFull={list.length === PAGE_SIZE}
                onPage={(number) => void navigate({ search: { page: number } })}
              />
            </>
          )
        }
      </QueryView>
    </Section>
  )
}
