import { Button, Checkbox, Group, Menu, Pagination, Stack } from '@mantine/core'
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import type { paths } from '@postonce/sdk'
import { ChevronDown } from 'lucide-react'
import { useState, type ReactNode } from 'react'
import { client } from '../../session/session.ts'
import { countOf } from '../../shared/counts.ts'
import { ALLOWED, usePostActions, type ListedPost } from '../../shared/post-actions.tsx'
import { QueryView } from '../../shared/states.tsx'
import { ScheduleButton } from '../../shared/schedule-button.tsx'
import { MoveButton } from './move-button.tsx'
import { PostRow } from './post-row.tsx'

export type PostQuery = NonNullable<paths['/api/posts']['get']['parameters']['query']>

interface PostListProps {
  query: PostQuery
  onPage: (page: number) => void
  /** Shown when no post matches. */
  empty: ReactNode
}

/** Posts with a box each, and actions on those that are selected. */
export function PostList({ query, onPage, empty }: PostListProps) {
  const posts = useQuery({
    queryKey: ['posts', 'list', query],
    queryFn: () => client.posts.list(query),
    placeholderData: keepPreviousData,
  })
  const [selected, setSelected] = useState<ReadonlySet<string>>(new Set())
  return (
    <QueryView query={posts}>
      {({ posts: items, totalPages, total, page }) => {
        if (items.length === 0) return empty
        const chosen = items.filter(({ _id }) => selected.has(_id))
        const select = (ids: string[], isSelected: boolean) =>
          setSelected(new Set(isSelected ? [...selected, ...ids] : [...selected].filter((id) => !ids.includes(id))))
        return (
          <Stack gap="sm">
            <Group justify="space-between" mih={36}>
              <Checkbox
                label={chosen.length === 0 ? countOf(total, 'post') : `${chosen.length} selected`}
                checked={chosen.length === items.length}
                indeterminate={chosen.length > 0 && chosen.length < items.length}
                onChange={({ currentTarget }) =>
                  select(
                    items.map(({ _id }) => _id),
                    currentTarget.checked,
                  )
                }
              />
              {chosen.length > 0 && <BulkActions posts={chosen} done={() => setSelected(new Set())} />}
            </Group>
            <Stack component="ul" gap="xs" m={0} p={0}>
              {items.map((post) => (
                <PostRow
                  key={post._id}
                  post={post}
                  isSelected={selected.has(post._id)}
                  onSelect={(isSelected) => select([post._id], isSelected)}
                />
              ))}
            </Stack>
            {totalPages > 1 && (
              <Pagination
                total={totalPages}
                value={page}
                onChange={onPage}
                getControlProps={(control) => ({ 'aria-label': `${control} page` })}
              />
            )}
          </Stack>
        )
      }}
    </QueryView>
  )
}

/** Offers what may be done with every one of the posts. */
function BulkActions({ posts, done }: { posts: ListedPost[]; done: () => void }) {
  const actions = usePostActions()
  const all = (action: keyof typeof ALLOWED) => posts.every(({ status }) => ALLOWED[action].includes(status))
  return (
    <Group gap="xs">
      {all('edit') && (
        <ScheduleButton
          onChoose={async (at) => {
            await actions.schedule(posts, at)
            done()
          }}
        />
      )}
      {all('edit') && posts.every(({ scheduledAt }) => scheduledAt !== null) && (
        <MoveButton
          posts={posts}
          onMove={async (moved) => {
            await actions.move(moved)
            done()
          }}
        />
      )}
      {all('publish') && (
        <Button size="xs" variant="default" loading={actions.isPending} onClick={() => actions.publish(posts)}>
          Publish now
        </Button>
      )}
      <Menu position="bottom-end">
        <Menu.Target>
          <Button size="xs" variant="default" rightSection={<ChevronDown size={14} aria-hidden />}>
            More
          </Button>
        </Menu.Target>
        <Menu.Dropdown>
          {all('retry') && <Menu.Item onClick={() => void actions.retry(posts)}>Send again</Menu.Item>}
          {all('cancel') && <Menu.Item onClick={() => actions.cancel(posts)}>Cancel</Menu.Item>}
          <Menu.Item color="red" onClick={() => actions.remove(posts, done)}>
            Delete
          </Menu.Item>
        </Menu.Dropdown>
      </Menu>
    </Group>
  )
}
