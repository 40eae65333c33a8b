import { Anchor, Badge, Table, TextInput } from '@mantine/core'
import { useDebouncedCallback } from '@mantine/hooks'
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { Link, useNavigate, useSearch } from '@tanstack/react-router'
import { Search, UserSearch } from 'lucide-react'
import { DataTable } from '../../shared/data-table.tsx'
import { client } from '../../session/session.ts'
import { Section } from '../../shared/section.tsx'
import { Empty, QueryView } from '../../shared/states.tsx'
import { fromNow } from '../../shared/times.ts'
import { PageTurner } from './page-turner.tsx'

const SEARCH_MS = 300
const PAGE_SIZE = 25

export function UsersPanel() {
  const { page = 1, q } = useSearch({ from: '/signed-in/admin/users' })
  const navigate = useNavigate({ from: '/admin/users' })
  const query = { page, limit: PAGE_SIZE, ...(q && { q }) }
  const users = useQuery({
    queryKey: ['admin', 'users', query],
    queryFn: () => client.request('GET', '/api/admin/get-all-users', { query }),
    placeholderData: keepPreviousData,
  })
  const search = useDebouncedCallback(
    (text: string) => void navigate({ search: text ? { q: text } : {}, replace: true }),
    SEARCH_MS,
  )
  return (
    <Section title="Users">
      <TextInput
        aria-label="Search users"
        placeholder="Name, address or id"
        leftSection={<Search size={16} aria-hidden />}
        defaultValue={q ?? ''}
        mb="sm"
        onChange={({ currentTarget }) => search(currentTarget.value)}
      />
      <QueryView query={users}>
        {(list) =>
          list.length === 0 ? (
            <Empty icon={UserSearch} title="No user matches">
              Search for a part of the name or the address.
            </Empty>
          ) : (
            <>
              <DataTable head={['User', 'Plan', 'Posts', 'Last login']}>
                {list.map(({ _id, name, email, role, isDisabled, subscription, usage, limits, lastLogin }) => (
                  <Table.Tr key={_id}>
                    <Table.Td>
                      <Anchor component={Link} to={`/admin/users/${_id}`}>
                        {name}
                      </Anchor>{' '}
                      {email} {role === 'admin' && <Badge variant="light">Admin</Badge>}{' '}
                      {isDisabled && (
                        <Badge variant="light" color="red">
                          Disabled
                        </Badge>
                      )}
                    </Table.Td>
                    <Table.Td>{subscription.plan}</Table.Td>
                    <Table.Td>
                      {usage.postsCreated} of {limits.maxPosts}
                    </Table.Td>
                    <Table.Td>{lastLogin ? fromNow(lastLogin) : 'never'}</Table.Td>
                  </Table.Tr>
                ))}
              </DataTable>
              <PageTurner
                page={page}
                isFull={list.length === PAGE_SIZE}
                onPage={(number) => void navigate({ search: { ...(q && { q }), page: number } })}
              />
            </>
          )
        }
      </QueryView>
    </Section>
  )
}
