import { Button } from '@mantine/core'
import { Link, useNavigate, useSearch } from '@tanstack/react-router'
import { ListChecks } from 'lucide-react'
import { useAccountFilter } from '../../session/brand.ts'
import { Page } from '../../shared/page.tsx'
import { Empty } from '../../shared/states.tsx'
import { PostList } from './post-list.tsx'

/** Drafts of people, agents, programs and imports, which a user publishes, schedules, edits or deletes. */
export function ReviewPage() {
  const { page = 1 } = useSearch({ from: '/signed-in/review' })
  const navigate = useNavigate({ from: '/review' })
  const accounts = useAccountFilter()
  return (
    <Page title="Review" lead="Drafts that wait for your decision.">
      <PostList
        query={{ page, status: ['DRAFT'], sortBy: 'createdAt', ...accounts }}
        onPage={(number) => void navigate({ search: { page: number } })}
        empty={
          <Empty
            icon={ListChecks}
            title="Nothing to review"
            action={
              <Button component={Link} to="/compose" variant="default">
                Write a draft
              </Button>
            }
          >
            Drafts of agents, the command line, imports and people appear here.
          </Empty>
        }
      />
    </Page>
  )
}
