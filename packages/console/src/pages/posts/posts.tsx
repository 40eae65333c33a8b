import { Button } from '@mantine/core'
import { Link, useNavigate, useSearch } from '@tanstack/react-router'
import { FileSearch } from 'lucide-react'
import { Page } from '../../shared/page.tsx'
import { PostFilterFields, usePostQuery, type PostFilters } from '../../shared/post-filters.tsx'
import { Empty } from '../../shared/states.tsx'
import { PostList } from './post-list.tsx'

export interface PostsSearch extends PostFilters {
  page?: number
}

export function PostsPage() {
  const { page = 1, ...filters } = useSearch({ from: '/signed-in/posts' })
  const navigate = useNavigate({ from: '/posts' })
  const filter = (change: PostFilters) => void navigate({ search: { ...filters, ...change }, replace: true })
  const query = usePostQuery(filters)
  return (
    <Page title="Posts">
      <PostFilterFields filters={filters} onChange={filter} />
      <PostList
        query={{ page, sortBy: 'date', ...query }}
        onPage={(number) => void navigate({ search: { ...filters, page: number } })}
        empty={
          Object.keys(query).length > 0 ? (
            <Empty
              icon={FileSearch}
              title="No post matches"
              action={
                <Button variant="default" onClick={() => void navigate({ search: {} })}>
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
