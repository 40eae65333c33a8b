import { Button } from '@mantine/core'
import { Link } from '@tanstack/react-router'
import { SearchX } from 'lucide-react'
import { Empty } from '../shared/states.tsx'

export function NotFoundPage() {
  return (
    <Empty
      icon={SearchX}
      title="There is no such page"
      action={
        <Button component={Link} to="/">
          Go home
        </Button>
      }
    >
      The address may be mistyped, or what it showed was deleted.
    </Empty>
  )
}
