import { Button, Group, MultiSelect, Select, TextInput } from '@mantine/core'
import { useDebouncedCallback } from '@mantine/hooks'
import { useQuery } from '@tanstack/react-query'
import { Link, useNavigate, useSearch } from '@tanstack/react-router'
import { FileSearch, Search } from 'lucide-react'
import { client } from '../../session/session.ts'
import { PLATFORMS } from '../../shared/platforms.tsx'
import { Page } from '../../shared/page.tsx'
import { Empty } from '../../shared/states.tsx'
import { POST_STATUSES, type PostStatus } from '../../shared/statuses.tsx'
import { PostList } from './post-list.tsx'

export interface PostFilters {
  page?: number
  status?: PostStatus[]
  account?: string
  q?: string
}

export function PostsPage() {
  const filters = useSearch({ from: '/signed-in/posts' })
  const navigate = useNavigate({ from: '/posts' })
  const { data: accounts = [] } = useQuery({ queryKey: ['accounts'], queryFn: () => client.accounts.list() })
  const filter = (change: PostFilters) => void navigate({ search: { ...filters, page: 1, ...change }, replace: true })
  const search = useDebouncedCallback((q: string) => filter({ q }), 300)
  const isFiltered = Boolean(filters.status?.length || filters.account || filters.q)
  return (
    <Page title="Posts">
      <Group gap="sm" role="search">
        <TextInput
          aria-label="Search the texts"
          placeholder="Search the texts"
          leftSection={<Search size={16} aria-hidden />}
          defaultValue={filters.q ?? ''}
          onChange={({ currentTarget }) => search(currentTarget.value)}
          flex={1}
          miw={180}
        />
        <MultiSelect
          aria-label="Status"
          placeholder={filters.status?.length ? '' : 'Any status'}
          data={Object.entries(POST_STATUSES).map(([value, { label }]) => ({ value, label }))}
          value={filters.status ?? []}
          onChange={(status) => filter({ status: status as PostStatus[] })}
          clearable
          miw={180}
        />
        <Select
          aria-label="Account"
          placeholder="Any account"
          data={accounts.map(({ _id, platform, profile }) => ({
            value: _id,
            label: `${PLATFORMS[platform].name} ${profile.handle}`,
          }))}
          value={filters.account ?? null}
          onChange={(account) => filter({ account: account ?? '' })}
          clearable
          searchable
          miw={200}
        />
      </Group>
      <PostList
        query={{
          page: filters.page ?? 1,
          sortBy: 'date',
          ...(filters.status?.length && { status: filters.status }),
          ...(filters.account && { account: filters.account }),
          ...(filters.q && { q: filters.q }),
        }}
        onPage={(page) => filter({ page })}
        empty={
          isFiltered ? (
            <Empty
              icon={FileSearch}
              title="No post matches"
              action={
                <Button variant="default" onClick={() => filter({ status: [], account: '', q: '' })}>
                  Show all posts
                </Button>
              }
            >
              Change the search or the filters.
            </Empty>
          ) : (
            <Empty
              icon={FileSearch}
              title="No posts yet"
              action={
                <Button component={Link} to="/compose">
                  Write a post
                </Button>
              }
            >
              Write a post once, and it is published on all your accounts.
            </Empty>
          )
        }
      />
    </Page>
  )
}
