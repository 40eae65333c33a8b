import { Grid, MultiSelect, Select, TextInput } from '@mantine/core'
import { useDebouncedCallback } from '@mantine/hooks'
import { Search } from 'lucide-react'
import { useAccountFilter } from '../session/brand.ts'
import { nameAccount, useAccounts } from './accounts.ts'
import { POST_STATUSES, type PostStatus } from './statuses.tsx'

/** The filters of lists of posts and of the calendar, as in the addresses of their pages. */
export interface PostFilters {
  status?: PostStatus[]
  account?: string
  q?: string
}

const SEARCH_MS = 300

/** Returns the filters as the API takes them, with the accounts of the brand. */
export function usePostQuery({ status, account, q }: PostFilters) {
  return { ...(status?.length && { status }), ...useAccountFilter(account), ...(q && { q }) }
}

interface PostFilterFieldsProps {
  filters: PostFilters
  onChange: (change: PostFilters) => void
}

export function PostFilterFields({ filters, onChange }: PostFilterFieldsProps) {
  const search = useDebouncedCallback((q: string) => onChange({ q }), SEARCH_MS)
  return (
    <Grid gap="sm" role="search">
      <Grid.Col span={{ base: 12, md: 6 }}>
        <TextInput
          aria-label="Search the texts"
          placeholder="Search the texts"
          leftSection={<Search size={16} aria-hidden />}
          defaultValue={filters.q ?? ''}
          onChange={({ currentTarget }) => search(currentTarget.value)}
        />
      </Grid.Col>
      <Grid.Col span={{ base: 6, md: 3 }}>
        <MultiSelect
          aria-label="Status"
          placeholder={filters.status?.length ? '' : 'Any status'}
          data={Object.entries(POST_STATUSES).map(([value, { label }]) => ({ value, label }))}
          value={filters.status ?? []}
          onChange={(status) => onChange({ status: status as PostStatus[] })}
          clearable
        />
      </Grid.Col>
      <Grid.Col span={{ base: 6, md: 3 }}>
        <AccountSelect value={filters.account} onChange={(account) => onChange({ account })} />
      </Grid.Col>
    </Grid>
  )
}

interface AccountSelectProps {
  value: string | undefined
  /** Empty for all accounts. */
  onChange: (account: string) => void
}

export function AccountSelect({ value, onChange }: AccountSelectProps) {
  const { data: accounts = [] } = useAccounts()
  return (
    <Select
      aria-label="Account"
      placeholder="Any account"
      data={accounts.map((account) => ({ value: account._id, label: nameAccount(account) }))}
      value={value || null}
      onChange={(account) => onChange(account ?? '')}
      clearable
      searchable
    />
  )
}
