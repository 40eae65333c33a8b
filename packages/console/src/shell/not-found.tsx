import { Button } from '@mantine/core'
import { Link } from '@tanstack/react-router'
import { Page } from '../shared/page.tsx'

export function NotFoundPage() {
  return (
    <Page
      title="There is no such page"
      lead="The address may be mistyped, or what it showed was deleted."
      actions={
        <Button component={Link} to="/">
          Go home
        </Button>
      }
    >
      {null}
    </Page>
  )
}
